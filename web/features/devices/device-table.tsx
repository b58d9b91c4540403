import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Brain, Pencil, QrCode, Trash2 } from 'lucide-react'
import { api } from '../../api/index.ts'
import type { Device } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { ForEditors } from '../../ui/changeable.tsx'
import { Ago } from '../../ui/page.tsx'
import { RowMenu } from '../../ui/row-menu.tsx'
import { useBoards } from './board-address.tsx'
import type { Asked } from './device-dialogs.tsx'
import { DeviceState } from './device-state.tsx'

interface DeviceTableProps {
  readonly devices: readonly Device[]
  readonly onAsk: (asked: Asked) => void
}

export function DeviceTable({ devices, onAsk }: DeviceTableProps) {
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
        {devices.map((device) => (
          <DeviceRow key={device.id} device={device} onAsk={onAsk} />
        ))}
      </tbody>
    </table>
  )
}

interface DeviceRowProps {
  readonly device: Device
  readonly onAsk: (asked: Asked) => void
}

function DeviceRow({ device, onAsk }: DeviceRowProps) {
  const { t } = useI18n()
  const navigate = useNavigate()
  const apps = useQuery({ queryKey: ['apps'], queryFn: api.apps.list })
  const app = apps.data?.apps.find(({ id }) => id === device.app_id)
  const boards = useBoards()
  const turn = boards.data?.last_turns.find(({ device_id }) => device_id === device.id)
  const hardware = [device.hw_model, device.firmware].filter(Boolean).join(' · ')
  const gone = apps.data ? t('devices.app.gone') : '…'
  const bound = device.app_id === null ? t('devices.app.none') : gone
  return (
    <tr>
      <td className="lead">
        <Link to="/app/devices/$id" params={{ id: device.id }} className="font-medium underline">
          {device.name}
        </Link>
      </td>
      <td data-label={t('devices.state')}>
        <DeviceState device={device} />
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
              { label: t('action.edit'), icon: Pencil, act: () => onAsk({ what: 'edit', device }) },
              {
                label: t('memory.device'),
                icon: Brain,
                act: () =>
                  void navigate({ to: '/app/memory', search: { subject: `device:${device.id}` } }),
              },
              {
                label: t('devices.recode'),
                icon: QrCode,
                act: () => onAsk({ what: 'recode', device }),
              },
              {
                label: t('action.delete'),
                icon: Trash2,
                act: () => onAsk({ what: 'delete', device }),
                isLoss: true,
              },
            ]}
          />
        </ForEditors>
      </td>
    </tr>
  )
}
