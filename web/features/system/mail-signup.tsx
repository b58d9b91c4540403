import type { SystemSetting } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { Choices } from './choices.tsx'

export type MailSignUp = 'closed' | 'open'

/** Whether nobody has said yet who may sign up, which mail needs. */
export const isSignUpUnchosen = (settings: readonly SystemSetting[]): boolean =>
  settings.some(
    ({ name, source, locked }) => name === 'MB_SIGNUP' && source === 'default' && !locked,
  )

interface MailSignUpProps {
  readonly value: MailSignUp
  readonly onPick: (value: MailSignUp) => void
}

/** Asked where mail is set first: until then nobody got a code but who reads the terminal. */
export function MailSignUpField({ value, onPick }: MailSignUpProps) {
  const { t } = useI18n()
  return (
    <div className="grid gap-3 rounded-lg bg-sunken p-4">
      <p aria-hidden>{t('mail.signup')}</p>
      <Choices
        label={t('mail.signup')}
        value={value}
        choices={[
          { value: 'closed', label: t('signup.closed'), hint: t('mail.signup.closed') },
          { value: 'open', label: t('signup.open'), hint: t('signup.open.hint') },
        ]}
        onPick={(next) => onPick(next as MailSignUp)}
      />
    </div>
  )
}
