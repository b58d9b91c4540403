import { type FormEvent, useState } from 'react'
import { api } from '../../api/index.ts'
import type { LoginMethods } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useAction, useExplain } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/form.tsx'

interface EmailStepProps {
  readonly delivery: LoginMethods['email_delivery']
  readonly onSent: (email: string) => void
}

export function EmailStep({ delivery, onSent }: EmailStepProps) {
  const { t } = useI18n()
  const explain = useExplain()
  const [email, setEmail] = useState('')
  const start = useAction(api.auth.start, { shows: () => true, onDone: () => onSent(email.trim()) })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    start.mutate(email.trim())
  }
  return (
    <form className="grid gap-4" onSubmit={submit} noValidate>
      <TextField
        label={t('login.email')}
        hint={t(delivery === 'mail' ? 'login.mail.hint' : 'login.terminal.hint')}
        problem={start.error ? explain(start.error) : null}
        type="email"
        autoComplete="email"
        autoFocus
        required
        placeholder="you@example.com"
        value={email}
        onText={setEmail}
      />
      <Button type="submit" kind="primary" busy={start.isPending} disabled={!email.includes('@')}>
        {t('login.send')}
      </Button>
    </form>
  )
}
