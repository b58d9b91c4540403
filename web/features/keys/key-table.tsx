import { useQuery } from '@tanstack/react-query'
import { Pencil } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/index.ts'
import type { ApiKeyMeta } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { ForEditors, ForOwners } from '../../ui/changeable.tsx'
import { Confirm, Dialog } from '../../ui/dialog.tsx'
import { Ago, Badge } from '../../ui/page.tsx'
import { KeyForm } from './key-form.tsx'
import { endsOf, useScopeOf } from './names.ts'

export function KeyTable({ keys }: { readonly keys: readonly ApiKeyMeta[] }) {
  const { t } = useI18n()
  const [asked, setAsked] = useState<ApiKeyMeta | null>(null)
  const [withMade, setWithMade] = useState(false)
  const ask = (key: ApiKeyMeta) => {
    setWithMade(false)
    setAsked(key)
  }
  const [edited, setEdited] = useState<ApiKeyMeta | null>(null)
  const revoke = useAction(api.keys.revoke, {
    done: 'keys.revoked',
    refresh: ['keys', 'devices', 'shares'],
    onDone: () => setAsked(null),
    onGone: () => setAsked(null),
  })
  return (
    <>
      <table className="rows stack">
        <thead>
          <tr>
            <th>{t('keys.key')}</th>
            <th>{t('keys.scope')}</th>
            <th>{t('keys.limits')}</th>
            <th>{t('keys.used')}</th>
            <th>
              <span className="sr-only">{t('field.actions')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <KeyRow
              key={key.id}
              item={key}
              onEdit={() => setEdited(key)}
              onRevoke={() => ask(key)}
            />
          ))}
        </tbody>
      </table>
      <EditDialog item={edited} onClose={() => setEdited(null)} />
      <Confirm
        title={t('keys.revoke.title', { key: asked ? asked.name || endsOf(asked) : '' })}
        loss={asked && <RevokeLoss item={asked} withMade={withMade} onWithMade={setWithMade} />}
        action={t('keys.revoke')}
        open={asked !== null}
        busy={revoke.isPending}
        onConfirm={() => asked && revoke.mutate({ id: asked.id, withMade })}
        onClose={() => setAsked(null)}
      />
    </>
  )
}

interface LossProps {
  readonly item: ApiKeyMeta
  /** Whether what the key has made is to end, too. */
  readonly withMade: boolean
  readonly onWithMade: (withMade: boolean) => void
}

/** Identifies the key by its ends, scope and use, and shows what stops working. */
function RevokeLoss({ item, withMade, onWithMade }: LossProps) {
  const { t } = useI18n()
  const scope = useScopeOf(item)
  return (
    <>
      <span className="mb-2 block">
        <code>{endsOf(item)}</code> · {scope} · {t('keys.calls', { count: item.calls_7d })}
      </span>
      {t('keys.revoke.loss')}
      <MadeChoice item={item} on={withMade} onChange={onWithMade} />
    </>
  )
}

interface MadeProps {
  readonly item: ApiKeyMeta
  readonly on: boolean
  readonly onChange: (on: boolean) => void
}

/** Offers to end what the key has made; nothing where it has made nothing. */
function MadeChoice({ item, on, onChange }: MadeProps) {
  const { t } = useI18n()
  const isGeneral = item.app_id === null && item.device_id === null
  const { data: made } = useQuery({
    queryKey: ['keys', item.id, 'made'],
    queryFn: () => api.keys.made(item.id),
    enabled: isGeneral,
  })
  if (!made || made.keys.length + made.devices.length + made.shares.length === 0) return null
  const counts = {
    keys: made.keys.length,
    devices: made.devices.length,
    shares: made.shares.length,
  }
  return (
    <label className="mt-4 flex items-start gap-3">
      <input
        type="checkbox"
        className="mt-1"
        checked={on}
        onChange={(event) => onChange(event.target.checked)}
      />
      {t('keys.revoke.made', counts)}
    </label>
  )
}

interface EditProps {
  readonly item: ApiKeyMeta | null
  readonly onClose: () => void
}

function EditDialog({ item, onClose }: EditProps) {
  const { t } = useI18n()
  const save = useAction(
    (input: { id: string; to: Parameters<typeof api.keys.update>[1] }) =>
      api.keys.update(input.id, input.to),
    { done: 'keys.saved', refresh: ['keys', 'usage'], onDone: onClose },
  )
  return (
    <Dialog
      title={t('keys.edit')}
      about={item && <code>{endsOf(item)}</code>}
      open={item !== null}
      onClose={onClose}
    >
      {item && (
        <KeyForm
          item={item}
          action={t('action.save')}
          busy={save.isPending}
          onSubmit={(to) => save.mutate({ id: item.id, to })}
          onCancel={onClose}
        />
      )}
    </Dialog>
  )
}

interface KeyRowProps {
  readonly item: ApiKeyMeta
  readonly onEdit: () => void
  readonly onRevoke: () => void
}

function KeyRow({ item, onEdit, onRevoke }: KeyRowProps) {
  const { t } = useI18n()
  const scope = useScopeOf(item)
  const ForManagers = item.app_id || item.device_id ? ForEditors : ForOwners
  return (
    <tr className={item.revoked_at === null ? '' : 'text-ink-3'}>
      <td className="lead">
        <div className="min-w-0">
          {item.name && <span className="block truncate font-medium">{item.name}</span>}
          <code className="whitespace-nowrap text-ink-2">{endsOf(item)}</code>
          <span className="block text-small font-normal text-ink-3">
            {t('keys.created')} <Ago at={item.created_at} />
          </span>
        </div>
      </td>
      <td data-label={t('keys.scope')}>
        <Badge tone={item.app_id || item.device_id ? 'accent' : undefined}>{scope}</Badge>
      </td>
      <td data-label={t('keys.limits')}>
        <Limits item={item} />
      </td>
      <td data-label={t('keys.used')} className="text-ink-2">
        <div>
          {item.last_used_at ? <Ago at={item.last_used_at} /> : t('keys.unused')}
          {item.calls_7d > 0 && (
            <span className="block text-small text-ink-3">
              {t('keys.calls', { count: item.calls_7d })}
            </span>
          )}
        </div>
      </td>
      <td className="actions num whitespace-nowrap">
        {item.revoked_at === null ? (
          <ForManagers>
            <Button
              kind="quiet"
              size="small"
              icon={<Pencil size={15} aria-hidden />}
              aria-label={t('system.summary', {
                name: t('keys.edit'),
                value: item.name || endsOf(item),
              })}
              onClick={onEdit}
            />{' '}
            <Button
              kind="danger"
              size="small"
              aria-label={t('system.summary', {
                name: t('keys.revoke'),
                value: item.name || endsOf(item),
              })}
              onClick={onRevoke}
            >
              {t('keys.revoke')}
            </Button>
          </ForManagers>
        ) : (
          <Badge>{t('keys.state.revoked')}</Badge>
        )}
      </td>
    </tr>
  )
}

/** The rate limit, and the budget with the tokens spent today. */
function Limits({ item }: { readonly item: ApiKeyMeta }) {
  const { t, locale } = useI18n()
  const usage = useQuery({
    queryKey: ['usage'],
    queryFn: () => api.usage(),
    enabled: item.daily_tokens > 0,
  })
  const spent = usage.data?.spent_today.find(({ key_id }) => key_id === item.id)?.tokens ?? 0
  return (
    <div className="grid gap-1">
      <span>
        {item.rate_limit === 0
          ? t('keys.unlimited')
          : t('keys.per.minute', { count: item.rate_limit })}
      </span>
      {item.daily_tokens > 0 && (
        <>
          <span className="text-small text-ink-2">
            {t('keys.tokens.spent', {
              spent: spent.toLocaleString(locale),
              all: item.daily_tokens.toLocaleString(locale),
            })}
          </span>
          <BudgetBar spent={spent} budget={item.daily_tokens} />
        </>
      )}
    </div>
  )
}

/** How much of a budget is spent; the text beside it says the same. */
export function BudgetBar(props: { readonly spent: number; readonly budget: number }) {
  const share = Math.min(1, props.spent / props.budget)
  return (
    <span className="block h-1.5 overflow-hidden rounded-full bg-sunken" aria-hidden>
      <span
        className={`block h-full rounded-full ${share === 1 ? 'bg-bad' : 'bg-accent'}`}
        style={{ width: `${share * 100}%` }}
      />
    </span>
  )
}
