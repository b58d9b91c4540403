import { Volume2 } from 'lucide-react'
import { useState } from 'react'
import { SENTENCE_CHARS_MAX } from '../../../src/core/limits/contract.ts'
import { api } from '../../api/index.ts'
import type { Device } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/form.tsx'
import { Form } from '../../ui/form-end.tsx'
import { useBoards } from './board-address.tsx'

/** A sentence that the device speaks: at once while it is connected, else when it asks next. */
export function DeviceSay({ device }: { readonly device: Device }) {
  const { t } = useI18n()
  const [text, setText] = useState('')
  const isHere = useBoards().data?.connected.includes(device.id) === true
  const say = useAction(api.devices.say, {
    done: isHere ? 'devices.say.now' : 'devices.say.later',
    onDone: () => setText(''),
  })
  return (
    <Form
      className="card grid gap-4 px-5 py-4"
      isWhole={text.trim() !== ''}
      onSend={() => say.mutate({ id: device.id, text: text.trim() })}
    >
      <TextField
        label={t('devices.say')}
        hint={t(isHere ? 'devices.say.hint' : 'devices.say.away')}
        value={text}
        maxLength={SENTENCE_CHARS_MAX}
        required
        onText={setText}
      />
      <div className="flex justify-end">
        <Button
          type="submit"
          kind="primary"
          icon={<Volume2 size={16} aria-hidden />}
          busy={say.isPending}
        >
          {t('devices.say.send')}
        </Button>
      </div>
    </Form>
  )
}
