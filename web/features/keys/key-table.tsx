import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/index.ts'
import type { ApiKeyMeta } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Ago, Badge } from '../../ui/page.tsx'

export function KeyTable({ keys }: { readonly keys: readonly ApiKeyMeta[] }) {
  const { t } = useI18n()
  const [asked, setAsked] = useState<ApiKeyMeta | null>(null)
  const revoke = useAction(api.keys.revoke, {
    done: 'keys.revoked',
    refresh: ['keys'],
    onDone: () => setAsked(null),
  })
  return (
    <>
      <table className="rows stack">
        <thead>
          <tr>
            <th>{t('keys.key')}</th>
            <th>{t('keys.scope')}</th>
            <th>{t('keys.rate')}</th>
            <th>{t('field.created')}</th>
            <th>
              <span className="sr-only">{t('field.actions')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <KeyRow key={key.id} item={key} onRevoke={() => setAsked(key)} />
          ))}
        </tbody>
      </table>
      <Confirm
        title={t('keys.revoke.title', { prefix: asked?.prefix ?? '' })}
        loss={t('keys.revoke.loss')}
        action={t('keys.revoke')}
        open={asked !== null}
        busy={revoke.isPending}
        onConfirm={() => asked && revoke.mutate(asked.id)}
        onClose={() => setAsked(null)}
      />
    </>
  )
}

interface KeyRowProps {
  readonly item: ApiKeyMeta
  readonly onRevoke: () => void
}

function KeyRow({ item, onRevoke }: KeyRowProps) {
  const { t } = useI18n()
  const apps = useQuery({ queryKey: ['apps'], queryFn: api.apps.list })
  const app = apps.data?.apps.find(({ id }) => id === item.app_id)?.name ?? item.app_id
  const devices = useQuery({
    queryKey: ['devices'],
    queryFn: api.devices.list,
    enabled: item.device_id !== null,
  })
  const device = devices.data?.devices.find(({ id }) => id === item.device_id)?.name
  const scope = item.device_id
    ? t('keys.scope.device', { name: device ?? item.device_id })
    : item.app_id
      ? t('keys.scope.app', { name: app ?? '' })
      : t('keys.scope.general')
  return (
    <tr className={item.revoked_at === null ? '' : 'text-ink-3'}>
      <td className="lead">
        <code className="whitespace-nowrap">{item.prefix}…</code>
      </td>
      <td data-label={t('keys.scope')}>
        <Badge tone={item.app_id || item.device_id ? 'accent' : undefined}>{scope}</Badge>
      </td>
      <td data-label={t('keys.rate')}>
        {item.rate_limit === 0
          ? t('keys.unlimited')
          : t('keys.per.minute', { count: item.rate_limit })}
      </td>
      <td data-label={t('field.created')} className="text-ink-2">
        <Ago at={item.created_at} />
      </td>
      <td className="actions num">
        {item.revoked_at === null ? (
          <Button kind="danger" size="small" onClick={onRevoke}>
            {t('keys.revoke')}
          </Button>
        ) : (
          <Badge>{t('keys.state.revoked')}</Badge>
        )}
      </td>
    </tr>
  )
}
