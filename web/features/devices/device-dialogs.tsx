import { useState } from 'react'
import { api } from '../../api/index.ts'
import type { Device, PairingCode } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { DeviceDialog, type DeviceDraft } from './device-dialog.tsx'
import { DigitsDialog } from './digits-dialog.tsx'
import { PairingDialog } from './pairing-dialog.tsx'

/** What is being done to a device; without one, a device is added. */
export type Asked = {
  readonly what: 'new' | 'digits' | 'edit' | 'recode' | 'delete'
  readonly device: Device | null
}

type Shown = { readonly name: string; readonly code: PairingCode }

interface DialogsProps {
  readonly asked: Asked | null
  readonly onAsk: (asked: Asked | null) => void
  readonly onDeleted?: () => void
}

/** The dialogs by which devices are added, changed and deleted. */
export function DeviceDialogs({ asked, onAsk, onDeleted }: DialogsProps) {
  const { t } = useI18n()
  const [shown, onShow] = useState<Shown | null>(null)
  const close = () => onAsk(null)
  const device = asked?.device ?? null
  const name = device?.name ?? ''
  const refresh = ['devices']
  const register = useAction(api.devices.register, {
    refresh,
    onDone: (made) => {
      close()
      onShow({ name: made.name, code: made })
    },
  })
  const update = useAction(
    ({ id, draft }: { id: string; draft: DeviceDraft }) => api.devices.update(id, draft),
    { refresh, done: 'devices.saved', onDone: close },
  )
  const recode = useAction(
    (target: { id: string; name: string }) => api.devices.recode(target.id),
    {
      refresh: ['devices', 'keys'],
      onDone: (code, target) => {
        close()
        onShow({ name: target.name, code })
      },
      onGone: close,
    },
  )
  const remove = useAction(api.devices.remove, {
    refresh: ['devices', 'keys'],
    done: 'devices.deleted',
    onDone: () => {
      close()
      onDeleted?.()
    },
    onGone: close,
  })
  return (
    <>
      <DeviceDialog
        device={device}
        open={asked?.what === 'new' || asked?.what === 'edit'}
        busy={register.isPending || update.isPending}
        onSave={(draft) =>
          device ? update.mutate({ id: device.id, draft }) : register.mutate(draft)
        }
        onDigits={() => onAsk({ what: 'digits', device: null })}
        onClose={close}
      />
      <Confirm
        title={t('devices.recode.title', { name })}
        loss={t('devices.recode.loss')}
        action={t('devices.recode')}
        open={asked?.what === 'recode'}
        busy={recode.isPending}
        onConfirm={() => device && recode.mutate(device)}
        onClose={close}
      />
      <Confirm
        title={t('devices.delete.title', { name })}
        loss={t('devices.delete.loss')}
        action={t('action.delete')}
        open={asked?.what === 'delete'}
        busy={remove.isPending}
        onConfirm={() => device && remove.mutate(device.id)}
        onClose={close}
      />
      <DigitsDialog open={asked?.what === 'digits'} onClose={close} />
      <PairingDialog
        name={shown?.name ?? ''}
        code={shown?.code ?? null}
        onRecode={() => shown && recode.mutate({ id: shown.code.id, name: shown.name })}
        onClose={() => onShow(null)}
      />
    </>
  )
}
