import { useQuery } from '@tanstack/react-query'
import { Hash } from 'lucide-react'
import { useState } from 'react'
import { DEVICE_LABEL_CHARS_MAX, DEVICE_NAME_CHARS_MAX } from '../../../src/core/limits/contract.ts'
import { api } from '../../api/index.ts'
import type { Device } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/form.tsx'
import { Form, FormEnd } from '../../ui/form-end.tsx'
import { namedChoices } from '../../ui/named-choices.ts'

export interface DeviceDraft {
  readonly name: string
  readonly app_id: string | null
  readonly hw_model: string | null
}

interface DeviceDialogProps {
  /** Null creates a new device. */
  readonly device: Device | null
  readonly open: boolean
  readonly busy: boolean
  readonly onSave: (draft: DeviceDraft) => void
  /** The device shows digits and takes no code. */
  readonly onDigits: () => void
  readonly onClose: () => void
}

export function DeviceDialog(props: DeviceDialogProps) {
  const { device, open, busy, onSave, onDigits, onClose } = props
  const { t } = useI18n()
  return (
    <Dialog title={t(device ? 'devices.edit' : 'devices.new')} open={open} onClose={onClose}>
      {!device && (
        <div className="mb-5 flex flex-wrap items-center justify-between gap-3">
          <p className="text-ink-2">{t('devices.digits.shown')}</p>
          <Button size="small" icon={<Hash size={16} aria-hidden />} onClick={onDigits}>
            {t('devices.digits')}
          </Button>
        </div>
      )}
      <DeviceForm
        key={device?.id ?? 'new'}
        device={device}
        busy={busy}
        onSave={onSave}
        onClose={onClose}
      />
    </Dialog>
  )
}

function DeviceForm(props: Omit<DeviceDialogProps, 'open' | 'onDigits'>) {
  const { device, busy, onSave, onClose } = props
  const { t } = useI18n()
  const apps = useQuery({ queryKey: ['apps'], queryFn: api.apps.list })
  const [name, setName] = useState(device?.name ?? '')
  const [appId, setAppId] = useState(device?.app_id ?? '')
  const [hardware, setHardware] = useState('')
  const send = () => {
    const [app_id, hw_model] = [appId || null, hardware.trim() || null]
    onSave({ name: name.trim(), app_id, hw_model })
  }

  return (
    <Form isWhole={name.trim() !== ''} onSend={send}>
      <TextField
        label={t('field.name')}
        value={name}
        maxLength={DEVICE_NAME_CHARS_MAX}
        required
        onText={setName}
      />
      <SelectField
        label={t('devices.app')}
        hint={t(device ? 'devices.app.later' : 'devices.app.hint')}
        value={appId}
        choices={namedChoices(apps.data?.apps, appId, {
          none: t('devices.app.none'),
          gone: t('devices.app.gone'),
        })}
        onPick={setAppId}
      />
      {!device && (
        <TextField
          label={t('devices.hardware')}
          hint={t('devices.hardware.hint')}
          value={hardware}
          maxLength={DEVICE_LABEL_CHARS_MAX}
          onText={setHardware}
        />
      )}
      <FormEnd
        action={t(device ? 'action.save' : 'devices.register')}
        busy={busy}
        onCancel={onClose}
      />
    </Form>
  )
}
