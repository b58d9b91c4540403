import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/index.ts'
import type { TenantSummary } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { listed } from '../../lib/listed.ts'
import { useAction, useExplain } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { SwitchField, TextField } from '../../ui/form.tsx'
import { Form, FormEnd } from '../../ui/form-end.tsx'
import { More } from '../../ui/more.tsx'
import { Badge, Notice, Section } from '../../ui/page.tsx'
import { Loaded } from '../../ui/state.tsx'

const STEP = 50

/** All workspaces of the server; a page may ask before it shows them. */
export const useTenants = (enabled: boolean) =>
  useQuery({ queryKey: ['system', 'tenants'], queryFn: api.system.tenants, enabled })

/** All workspaces with what they use and may use. */
export function Tenants() {
  const { t } = useI18n()
  const tenants = useTenants(true)
  const [text, setText] = useState('')
  const [asked, setAsked] = useState<TenantSummary | null>(null)
  const word = text.trim().toLowerCase()
  const hit = ({ name, owners }: TenantSummary) =>
    [name, ...owners].some((one) => one.toLowerCase().includes(word))
  return (
    <Section title={t('tenants.title')} about={t('tenants.about')}>
      <Loaded query={tenants}>
        {({ tenants: list }) => (
          <>
            {list.length > STEP && (
              <div className="mb-3">
                <TextField label={t('tenants.find')} value={text} onText={setText} />
              </div>
            )}
            <div className="card">
              <More key={word} rows={list.filter(hit)} step={STEP}>
                {(shown) => (
                  <ul className="divide-y divide-line">
                    {shown.map((one) => (
                      <TenantRow key={one.id} tenant={one} onChange={() => setAsked(one)} />
                    ))}
                  </ul>
                )}
              </More>
            </div>
          </>
        )}
      </Loaded>
      <Dialog
        title={t('tenants.of', { name: asked?.name ?? '' })}
        open={asked !== null}
        onClose={() => setAsked(null)}
      >
        {asked && <LimitsForm tenant={asked} onClose={() => setAsked(null)} />}
      </Dialog>
    </Section>
  )
}

interface RowProps {
  readonly tenant: TenantSummary
  readonly onChange: () => void
}

function TenantRow({ tenant, onChange }: RowProps) {
  const { t, locale } = useI18n()
  const { name, owners, members, keys, docs, tokens_today: today, daily_tokens: daily } = tenant
  const number = (value: number) => value.toLocaleString(locale)
  const limit = daily === 0 ? t('tenants.unlimited') : number(daily)
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2 px-5 py-3">
      <div className="min-w-0">
        <p className="flex min-w-0 flex-wrap items-center gap-2">
          <span className="min-w-0 break-all font-medium">{name}</span>
          {tenant.disabled && <Badge tone="warn">{t('tenants.disabled')}</Badge>}
        </p>
        <p className="break-all text-small text-ink-3">{listed(owners, locale)}</p>
        <p className="text-small text-ink-2">
          {t('tenants.row', { members: number(members), keys: number(keys), docs: number(docs) })}
          {' · '}
          {t('tenants.tokens', { today: number(today), limit })}
        </p>
      </div>
      <Button
        size="small"
        aria-label={t('system.summary', {
          name: t('server.change'),
          value: t('tenants.of', { name }),
        })}
        onClick={onChange}
      >
        {t('server.change')}
      </Button>
    </li>
  )
}

const WHOLE = /^\d{0,12}$/

function LimitsForm({ tenant, onClose }: { tenant: TenantSummary; onClose: () => void }) {
  const { t } = useI18n()
  const explain = useExplain()
  const [tokens, setTokens] = useState(String(tenant.daily_tokens))
  const [docs, setDocs] = useState(tenant.max_docs === null ? '' : String(tenant.max_docs))
  const [disabled, setDisabled] = useState(tenant.disabled)
  const save = useAction(
    () =>
      api.system.limitTenant(tenant.id, {
        daily_tokens: Number(tokens),
        max_docs: docs.trim() === '' ? null : Number(docs),
        disabled,
      }),
    { done: 'system.saved', refresh: ['system'], shows: () => true, onDone: onClose },
  )
  const isWhole = WHOLE.test(tokens) && WHOLE.test(docs)
  return (
    <Form isWhole={isWhole} onSend={() => save.mutate(undefined)}>
      <TextField
        label={t('tenants.daily')}
        hint={t('tenants.daily.hint')}
        inputMode="numeric"
        lacks={WHOLE.test(tokens) ? null : t('members.limit.wrong')}
        value={tokens}
        onText={setTokens}
      />
      <TextField
        label={t('tenants.docs')}
        hint={t('tenants.docs.hint')}
        inputMode="numeric"
        lacks={WHOLE.test(docs) ? null : t('members.limit.wrong')}
        value={docs}
        onText={setDocs}
      />
      <SwitchField
        label={t('tenants.disable')}
        hint={t('tenants.disable.hint')}
        on={disabled}
        onChange={setDisabled}
      />
      <div aria-live="polite">
        {save.error && <Notice tone="bad">{explain(save.error)}</Notice>}
      </div>
      <FormEnd busy={save.isPending} onCancel={onClose} />
    </Form>
  )
}
