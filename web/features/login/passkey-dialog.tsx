import { startRegistration } from '@simplewebauthn/browser'
import { useState } from 'react'
import { PASSKEY_NAME_CHARS_MAX } from '../../../src/core/limits/contract.ts'
import { ApiError } from '../../api/client.ts'
import { api } from '../../api/index.ts'
import { passkeys } from '../../api/passkeys.ts'
import type { Passkey } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction, useExplain } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/form.tsx'
import { Form, FormEnd } from '../../ui/form-end.tsx'
import { Notice } from '../../ui/page.tsx'

interface DialogProps {
  /** The passkey that gets another name, or a new one. */
  readonly asked: Passkey | 'new' | null
  readonly onClose: () => void
}

/** Names a passkey; a new one is then made by the device. */
export function PasskeyDialog({ asked, onClose }: DialogProps) {
  const { t } = useI18n()
  const isNew = asked === 'new'
  return (
    <Dialog
      title={t(isNew ? 'passkeys.add' : 'passkeys.rename')}
      open={asked !== null}
      onClose={onClose}
    >
      {asked && <PasskeyForm passkey={isNew ? null : asked} onClose={onClose} />}
    </Dialog>
  )
}

async function add(name: string): Promise<Passkey> {
  const options = await passkeys.options()
  const response = await startRegistration({ optionsJSON: options })
  return passkeys.add(name, response)
}

interface FormProps {
  readonly passkey: Passkey | null
  readonly onClose: () => void
}

function PasskeyForm({ passkey, onClose }: FormProps) {
  const { t } = useI18n()
  const explain = useExplain()
  const [name, setName] = useState(passkey?.name ?? t('passkeys.name.default'))
  const save = useAction(
    () => (passkey ? passkeys.rename(passkey.id, name.trim()) : add(name.trim())),
    {
      done: passkey ? 'passkeys.renamed' : 'passkeys.made',
      refresh: ['passkeys'],
      shows: () => true,
      onDone: onClose,
    },
  )
  const again = useAction(api.auth.logout, {
    onDone: () => location.assign('/login?next=%2Fapp%2Faccount'),
  })
  const isOld = save.error instanceof ApiError && save.error.error?.code === 'sign_in_again'
  return (
    <Form isWhole={name.trim() !== ''} onSend={() => save.mutate(undefined)}>
      <TextField
        label={t('field.name')}
        hint={passkey ? undefined : t('passkeys.name.hint')}
        value={name}
        maxLength={PASSKEY_NAME_CHARS_MAX}
        required
        onText={setName}
      />
      <div aria-live="polite">
        {save.error && (
          <Notice tone="bad">
            {save.error instanceof ApiError ? explain(save.error) : t('passkeys.failed')}
            {isOld && (
              <p className="mt-2">
                <Button size="small" busy={again.isPending} onClick={() => again.mutate(false)}>
                  {t('passkeys.again')}
                </Button>
              </p>
            )}
          </Notice>
        )}
      </div>
      <FormEnd
        action={passkey ? t('action.save') : t('passkeys.go')}
        busy={save.isPending}
        onCancel={onClose}
      />
    </Form>
  )
}
