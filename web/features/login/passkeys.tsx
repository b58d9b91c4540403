import { useQuery } from '@tanstack/react-query'
import { KeyRound, Pencil, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/index.ts'
import { passkeys as calls } from '../../api/passkeys.ts'
import type { Passkey } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Ago, Badge, Notice, Section } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/state.tsx'
import { PasskeyDialog } from './passkey-dialog.tsx'

/** The signed-in person's own passkeys. */
export function Passkeys() {
  const { t } = useI18n()
  const methods = useQuery({ queryKey: ['methods'], queryFn: api.auth.methods })
  const passkeys = useQuery({ queryKey: ['passkeys'], queryFn: calls.list })
  const [asked, setAsked] = useState<Passkey | 'new' | null>(null)
  const isOffered = methods.data?.passkey === true
  const others = methods.data?.email !== false || methods.data.oauth.length > 0
  return (
    <Section
      title={t('passkeys')}
      about={t('passkeys.about')}
      actions={
        isOffered && (
          <Button icon={<Plus size={16} aria-hidden />} onClick={() => setAsked('new')}>
            {t('passkeys.add')}
          </Button>
        )
      }
    >
      {methods.data && !isOffered && (
        <div className="mb-3">
          <Notice tone="warn">{t('passkeys.unnamed')}</Notice>
        </div>
      )}
      <Loaded query={passkeys}>
        {({ passkeys: list }) =>
          list.length === 0 ? (
            <div className="card">
              <Empty
                icon={<KeyRound />}
                title={t('passkeys.none')}
                text={t('passkeys.none.text')}
              />
            </div>
          ) : (
            <ul className="card divide-y divide-line">
              {list.map((one) => (
                <PasskeyRow
                  key={one.id}
                  passkey={one}
                  isLast={list.length === 1 && !others}
                  onRename={() => setAsked(one)}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
      <PasskeyDialog asked={asked} onClose={() => setAsked(null)} />
    </Section>
  )
}

interface RowProps {
  readonly passkey: Passkey
  /** Whether the person has no other way to sign in. */
  readonly isLast: boolean
  readonly onRename: () => void
}

function PasskeyRow({ passkey, isLast, onRename }: RowProps) {
  const { t } = useI18n()
  const [asks, setAsks] = useState(false)
  const remove = useAction(() => calls.remove(passkey.id), {
    done: 'passkeys.removed',
    refresh: ['passkeys'],
    onDone: () => setAsks(false),
  })
  const { name, created_at: created, last_used_at: used, backed_up: isSynced } = passkey
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2 px-5 py-3">
      <div className="min-w-0">
        <p className="flex min-w-0 flex-wrap items-center gap-2">
          <span className="min-w-0 break-words font-medium">{name}</span>
          {isSynced && <Badge>{t('passkeys.synced')}</Badge>}
        </p>
        <p className="text-small text-ink-3">
          {t('passkeys.added')} <Ago at={created} />
          {' · '}
          {used ? (
            <>
              {t('passkeys.used')} <Ago at={used} />
            </>
          ) : (
            t('passkeys.unused')
          )}
        </p>
      </div>
      <div className="flex gap-2">
        <Button
          size="small"
          icon={<Pencil size={15} aria-hidden />}
          aria-label={t('passkeys.rename.of', { name })}
          onClick={onRename}
        />
        <Button
          size="small"
          kind="danger"
          icon={<Trash2 size={15} aria-hidden />}
          aria-label={t('passkeys.remove.of', { name })}
          onClick={() => setAsks(true)}
        />
      </div>
      <Confirm
        title={t('passkeys.remove.of', { name })}
        loss={t(isLast ? 'passkeys.remove.last' : 'passkeys.remove.loss')}
        action={t('passkeys.remove')}
        open={asks}
        busy={remove.isPending}
        onConfirm={() => remove.mutate(undefined)}
        onClose={() => setAsks(false)}
      />
    </li>
  )
}
