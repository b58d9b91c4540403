import * as Menu from '@radix-ui/react-dropdown-menu'
import { useQuery } from '@tanstack/react-query'
import { Ellipsis, Pencil, QrCode, Trash2 } from 'lucide-react'
import { useRef } from 'react'
import { DEVICE_ONLINE_MS_MAX } from '../../../src/core/limits/contract.ts'
import { api } from '../../api/index.ts'
import type { Device } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useNow } from '../../lib/time.ts'
import { ForEditors } from '../../ui/changeable.tsx'
import { Ago, Badge } from '../../ui/page.tsx'
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
        <span className="text-[0.86rem] text-ink-3">
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
  const trigger = useRef<HTMLButtonElement>(null)
  const apps = useQuery({ queryKey: ['apps'], queryFn: api.apps.list })
  const app = apps.data?.apps.find(({ id }) => id === device.app_id)
  const boards = useBoards()
  const turn = boards.data?.last_turns.find(({ device_id }) => device_id === device.id)
  const hardware = [device.hw_model, device.firmware].filter(Boolean).join(' · ')
  const bound = device.app_id === null ? t('devices.app.none') : t('devices.app.gone')
  const icon = { size: 15, 'aria-hidden': true } as const
  const items = [
    ['action.edit', <Pencil key="edit" {...icon} />, actions.onEdit],
    ['devices.recode', <QrCode key="recode" {...icon} />, actions.onRecode],
    ['action.delete', <Trash2 key="delete" {...icon} />, actions.onDelete],
  ] as const
  return (
    <tr>
      <td className="lead">{device.name}</td>
      <td data-label={t('devices.state')}>
        <State device={device} />
        {turn && (
          <span className="block text-[0.86rem] text-ink-3">
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
          <Menu.Root modal={false}>
            <Menu.Trigger
              ref={trigger}
              className="btn"
              data-kind="quiet"
              data-size="small"
              data-shape="icon"
              aria-label={t('devices.actions', { name: device.name })}
            >
              <Ellipsis size={16} aria-hidden />
            </Menu.Trigger>
            <Menu.Portal>
              <Menu.Content className="menu" align="end" sideOffset={4}>
                {items.map(([label, symbol, act]) => (
                  <Menu.Item
                    key={label}
                    className="menu-item"
                    onSelect={() => {
                      // The menu closes before its dialog, so the focus returns to this button.
                      trigger.current?.focus()
                      act(device)
                    }}
                  >
                    {symbol}
                    {t(label)}
                  </Menu.Item>
                ))}
              </Menu.Content>
            </Menu.Portal>
          </Menu.Root>
        </ForEditors>
      </td>
    </tr>
  )
}
