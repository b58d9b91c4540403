import { DEVICE_ONLINE_MS_MAX } from '../../../src/core/limits/contract.ts'
import type { Device } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useNow } from '../../lib/time.ts'
import { Ago, Badge } from '../../ui/page.tsx'
import { useBoards } from './board-address.tsx'

/** Whether a device waits for its code, is connected, or was heard of lately. */
export function DeviceState({ device }: { readonly device: Device }) {
  const { t } = useI18n()
  const now = useNow(15_000)
  const boards = useBoards()
  if (device.activated_at === null) {
    const over = device.code_expires_at !== null && Date.parse(device.code_expires_at) <= now
    return (
      <Badge tone={over ? 'bad' : 'warn'}>{t(over ? 'devices.expired' : 'devices.pending')}</Badge>
    )
  }
  if (boards.data?.connected.includes(device.id)) {
    const dot = <span className="size-2 animate-pulse rounded-full bg-good" aria-hidden />
    return (
      <Badge tone="good" icon={dot}>
        {t('devices.connected')}
      </Badge>
    )
  }
  const seen = device.last_seen_at
  const online = seen !== null && now - Date.parse(seen) < DEVICE_ONLINE_MS_MAX
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2">
      <Badge
        tone={online ? 'good' : undefined}
        icon={
          <span className={`size-2 rounded-full ${online ? 'bg-good' : 'bg-ink-3'}`} aria-hidden />
        }
      >
        {t(online ? 'devices.online' : 'devices.offline')}
      </Badge>
      {seen && !online && (
        <span className="text-small text-ink-3">
          <Ago at={seen} />
        </span>
      )}
    </span>
  )
}
