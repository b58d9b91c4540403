import { CircleCheck } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { ApiError } from '../../api/client.ts'
import { api } from '../../api/index.ts'
import type { SystemSetting } from '../../api/types.ts'
import { type Key, useI18n } from '../../i18n/index.tsx'
import { useAction } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/form.tsx'
import { Notice, Section } from '../../ui/page.tsx'
import { Locked } from './locked.tsx'
import { MailOff } from './mail-off.tsx'
import { isSignUpUnchosen, type MailSignUp, MailSignUpField } from './mail-signup.tsx'
import { useRefusal } from './wrong-value.ts'

const PORTS = { smtp: '587', smtps: '465' } as const
type Scheme = keyof typeof PORTS

const EMPTY = { host: '', scheme: 'smtp' as Scheme, port: '587', user: '', password: '' }

/** The parts of a mail server's address, as one. */
function smtpUrl({ host, scheme, port, user, password }: typeof EMPTY): string {
  const login = user === '' ? '' : `${encodeURIComponent(user)}:${encodeURIComponent(password)}@`
  return `${scheme}://${login}${host.trim()}:${port.trim()}`
}

/** Why a test mail did not go; null where something else is wrong. */
const faultOf = (error: Error | null): string | null =>
  error instanceof ApiError && error.error?.code === 'mail_failed'
    ? (error.error.params.class ?? 'error')
    : null

const FAULTS = [
  ...(['connection_failed', 'tls', 'timeout', 'no_smtp'] as const),
  ...(['refuses_login', 'refuses_sender', 'refuses_mail'] as const),
]

const faultWords = (fault: string): Key =>
  `mail.class.${FAULTS.find((known) => known === fault) ?? 'error'}`

/** Mail as people know it; saving sends a test mail first. */
export function MailSection({ settings }: { readonly settings: readonly SystemSetting[] }) {
  const { t } = useI18n()
  const wordsOf = useRefusal()
  const server = settings.find(({ name }) => name === 'MB_SMTP_URL')
  const from = settings.find(({ name }) => name === 'MB_MAIL_FROM')
  const [fields, setFields] = useState(EMPTY)
  const [sender, setSender] = useState(from?.value ?? '')
  const [signUp, setSignUp] = useState<MailSignUp>('closed')
  const isUnchosen = isSignUpUnchosen(settings)
  const isSet = server?.secret_tail !== null && server !== undefined
  const save = useAction(
    (how: { untested: boolean; changes: Readonly<Record<string, string | null>> }) =>
      api.system.save(how.changes, how.untested),
    { done: 'system.saved', refresh: ['system', 'status', 'methods'], shows: () => true },
  )
  const set = (part: Partial<typeof EMPTY>) => setFields({ ...fields, ...part })
  const isTyped = (Object.keys(EMPTY) as (keyof typeof EMPTY)[]).some(
    (name) => fields[name] !== EMPTY[name],
  )
  const changes = {
    ...(fields.host.trim() === '' ? {} : { MB_SMTP_URL: smtpUrl(fields) }),
    ...(from?.locked ? {} : { MB_MAIL_FROM: sender.trim() || null }),
    ...(isUnchosen ? { MB_SIGNUP: signUp } : {}),
  }
  const isIdle = !isSet && !isTyped && sender.trim() === (from?.value ?? '')
  const fault = faultOf(save.error)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate({ untested: false, changes })
  }
  return (
    <Section title={t('system.mail')} about={t('system.mail.about')}>
      <form className="card grid gap-5 p-5" onSubmit={submit}>
        {isSet && (
          <Notice tone="good" icon={<CircleCheck size={16} />}>
            {t('mail.set')}
          </Notice>
        )}
        {server?.locked ? (
          <Locked names={['MB_SMTP_URL']} />
        ) : (
          <ServerFields fields={fields} needed={isTyped} onChange={set} />
        )}
        <TextField
          label={t('system.name.MB_MAIL_FROM')}
          placeholder="Moonbase <moonbase@example.com>"
          readOnly={from?.locked}
          value={sender}
          onText={setSender}
        />
        {isUnchosen && !isIdle && <MailSignUpField value={signUp} onPick={setSignUp} />}
        {save.error && (
          <div role="alert">
            <Notice tone="bad">
              {fault ? t(faultWords(fault)) : wordsOf(save.error)}
              {fault !== null && (
                <>
                  <p className="mt-2 text-note">{t('mail.failed.next')}</p>
                  <Button
                    size="small"
                    className="mt-2"
                    onClick={({ currentTarget: { form } }) => {
                      if (form?.reportValidity()) save.mutate({ untested: true, changes })
                    }}
                  >
                    {t('mail.untested')}
                  </Button>
                </>
              )}
            </Notice>
          </div>
        )}
        <div className="flex flex-wrap justify-end gap-2">
          {isSet && !server?.locked && (
            <MailOff
              busy={save.isPending}
              onOff={() => save.mutate({ untested: false, changes: { MB_SMTP_URL: null } })}
            />
          )}
          <Button type="submit" kind="primary" busy={save.isPending} idle={isIdle}>
            {t('mail.save')}
          </Button>
        </div>
      </form>
    </Section>
  )
}

interface FieldsProps {
  readonly fields: typeof EMPTY
  /** Whether anything was entered, which is nothing without the server it is for. */
  readonly needed: boolean
  readonly onChange: (part: Partial<typeof EMPTY>) => void
}

function ServerFields({ fields, needed, onChange }: FieldsProps) {
  const { t } = useI18n()
  return (
    <div className="grid gap-5 sm:grid-cols-2">
      <TextField
        label={t('mail.host')}
        placeholder="mail.example.com"
        required={needed}
        pattern={needed ? '.*\\S.*' : undefined}
        value={fields.host}
        onText={(host) => onChange({ host })}
      />
      <SelectField
        label={t('mail.security')}
        value={fields.scheme}
        choices={[
          { value: 'smtp', label: t('mail.starttls') },
          { value: 'smtps', label: t('mail.tls') },
        ]}
        onPick={(scheme) => onChange({ scheme: scheme as Scheme, port: PORTS[scheme as Scheme] })}
      />
      <TextField
        label={t('mail.port')}
        inputMode="numeric"
        value={fields.port}
        onText={(port) => onChange({ port })}
      />
      <TextField
        label={t('mail.user')}
        autoComplete="off"
        required={fields.password !== ''}
        value={fields.user}
        onText={(user) => onChange({ user })}
      />
      <TextField
        label={t('mail.password')}
        type="password"
        autoComplete="new-password"
        value={fields.password}
        onText={(password) => onChange({ password })}
      />
    </div>
  )
}
