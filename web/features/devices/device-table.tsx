import { useQuery } from '@tanstack/react-query'
import { Pencil, QrCode, Trash2 } from 'lucide-react'
import { DEVICE_ONLINE_MS_MAX } from '../../../src/core/limits/contract.ts'
import { api } from '../../api/index.ts'
import type { Device } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useNow } from '../../lib/time.ts'
import { ForEditors } from '../../ui/changeable.tsx'
import { Ago, Badge } from '../../ui/page.tsx'
import { RowMenu } from '../../ui/row-menu.tsx'
import { useBoards } from './board-address.tsx'

interface DeviceActions {
  readonly onEdit: (device: Device) => void
  readonly onRecode: (device: Device) => void
  readonly onDelete: (device: Device) => void
}

export function DeviceTable(props: DeviceActions & { readonly devices: readonly Device[] }) {
  const { t } = useI18n()
  return (
    <table className="rows stack">
      <thead>
        <tr>
          <th>{t('field.name')}</th>
          <th>{t('devices.state')}</th>
          <th>{t('devices.app')}</th>
          <th>{t('devices.hardware')}</th>
          <th>
            <span className="sr-only">{t('field.actions')}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {props.devices.map((device) => (
          <DeviceRow key={device.id} device={device} actions={props} />
        ))}
      </tbody>
    </table>
  )
}

function State({ device }: { readonly device: Device }) {
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

interface DeviceRowProps {
  readonly device: Device
  readonly actions: DeviceActions
}

function DeviceRow({ device, actions }: DeviceRowProps) {
  const { t } = useI18n()
  const { onEdit, onRecode, onDelete } = actions
  const apps = useQuery({ queryKey: ['apps'], queryFn: api.apps.list })
  const app = apps.data?.apps.find(({ id }) => id === device.app_id)
  const boards = useBoards()
  const turn = boards.data?.last_turns.find(({ device_id }) => device_id === device.id)
  const hardware = [device.hw_model, device.firmware].filter(Boolean).join(' · ')
  const bound = device.app_id === null ? t('devices.app.none') : t('devices.app.gone')
  return (
    <tr>
      <td className="lead">{device.name}</td>
      <td data-label={t('devices.state')}>
        <State device={device} />
        {turn && (
          <span className="block text-small text-ink-3">
            {t('devices.turn')} <Ago at={turn.at} />
          </span>
        )}
      </td>
      <td data-label={t('devices.app')} className={app ? '' : 'text-ink-3'}>
        {app?.name ?? bound}
      </td>
      <td data-label={t('devices.hardware')} data-empty={hardware === ''} className="text-ink-2">
        {hardware || '—'}
      </td>
      <td className="actions num">
        <ForEditors>
          <RowMenu
            label={t('devices.actions', { name: device.name })}
            actions={[
              { label: t('action.edit'), icon: Pencil, act: () => onEdit(device) },
              { label: t('devices.recode'), icon: QrCode, act: () => onRecode(device) },
              {
                label: t('action.delete'),
                icon: Trash2,
                act: () => onDelete(device),
                isLoss: true,
              },
            ]}
          />
        </ForEditors>
      </td>
    </tr>
  )
}
