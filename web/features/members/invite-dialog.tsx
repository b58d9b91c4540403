import { type FormEvent, useState } from 'react'
import { api } from '../../api/index.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction, useToasts } from '../../lib/services.tsx'
import { Button, CopyButton } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/form.tsx'
import { Notice } from '../../ui/page.tsx'
import { AddressNotice, useSignInPage } from '../system/address-notice.tsx'
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
  const submit = (event: FormEvent) => {
    event.preventDefault()
    invite.mutate({ email, role, language })
  }
  if (invite.data?.mailed === false) return <Unmailed email={email} onClose={onClose} />
  return (
    <form className="grid gap-5" onSubmit={submit}>
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
    </form>
  )
}

/** Nothing tells the invited person but the inviter, who gets an address to pass on. */
function Unmailed({ email, onClose }: { readonly email: string; readonly onClose: () => void }) {
  const { t } = useI18n()
  const address = useSignInPage()
  const isHereOnly = ['localhost', '127.0.0.1', '[::1]'].includes(new URL(address).hostname)
  return (
    <div className="grid gap-4" role="status">
      <p>{t('members.invited', { email })}</p>
      <div className="flex items-center gap-2">
        <code className="min-w-0 grow break-all">{address}</code>
        <CopyButton text={address} what={t('members.address')} />
      </div>
      {isHereOnly && <Notice tone="warn">{t('members.address.here')}</Notice>}
      <div className="flex justify-end">
        <Button kind="primary" onClick={onClose}>
          {t('action.close')}
        </Button>
      </div>
    </div>
  )
}
