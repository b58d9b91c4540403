import { useState } from 'react'
import { api } from '../../api/index.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction, useToasts } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/form.tsx'
import { Form } from '../../ui/form-end.tsx'
import { AddressNotice } from '../system/address-notice.tsx'
import { Unmailed } from '../system/unmailed.tsx'
import { type Role, useRoles } from './roles.ts'

interface InviteProps {
  readonly open: boolean
  readonly onClose: () => void
}

export function InviteDialog({ open, onClose }: InviteProps) {
  const { t } = useI18n()
  return (
    <Dialog
      title={t('members.invite')}
      about={t('members.invite.about')}
      open={open}
      onClose={onClose}
    >
      <InviteForm onClose={onClose} />
    </Dialog>
  )
}

function InviteForm({ onClose }: { readonly onClose: () => void }) {
  const { t, language } = useI18n()
  const toasts = useToasts()
  const roles = useRoles()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('editor')
  const invite = useAction(api.members.invite, {
    refresh: ['members'],
    onDone: ({ mailed }) => {
      if (!mailed) return
      toasts.show('good', t('members.mailed'))
      onClose()
    },
  })
  if (invite.data?.mailed === false) {
    return <Unmailed onClose={onClose}>{t('members.invited', { email })}</Unmailed>
  }
  return (
    <Form isWhole={email.trim() !== ''} onSend={() => invite.mutate({ email, role, language })}>
      <AddressNotice />
      <TextField
        label={t('login.email')}
        type="email"
        required
        autoComplete="off"
        value={email}
        onText={setEmail}
      />
      <SelectField
        label={t('members.role')}
        hint={t('members.role.hint')}
        value={role}
        choices={roles}
        onPick={(value) => setRole(value as Role)}
      />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{t('action.cancel')}</Button>
        <Button type="submit" kind="primary" busy={invite.isPending}>
          {t('members.invite')}
        </Button>
      </div>
    </Form>
  )
}
