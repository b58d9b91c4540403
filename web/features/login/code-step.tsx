import { MailCheck, SquareTerminal } from 'lucide-react'
import { useLayoutEffect, useRef, useState } from 'react'
import { LOGIN_CODE_DIGITS } from '../../../src/core/limits/contract.ts'
import { ApiError } from '../../api/client.ts'
import { api } from '../../api/index.ts'
import type { LoginMethods } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { SIGNED_OUT, useAction, useExplain } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/form.tsx'
import { Notice } from '../../ui/page.tsx'

interface CodeStepProps {
  readonly email: string
  readonly delivery: LoginMethods['email_delivery']
  /** Whether mail does not go at the moment, so that no code is on its way. */
  readonly isFailing: boolean
  readonly onBack: () => void
  readonly onDone: () => void
}

const isSignedOut = (error: unknown) => error instanceof ApiError && error.status === SIGNED_OUT

/** Takes the code; the sixth digit, typed or pasted, signs in without another click. */
export function CodeStep({ email, delivery, isFailing, onBack, onDone }: CodeStepProps) {
  const { t } = useI18n()
  const explain = useExplain()
  const [code, setCode] = useState('')
  const [dropped, setDropped] = useState(false)
  const enter = async (entered: string) => {
    setDropped(false)
    await api.auth.verify(email, entered)
    // The browser may have silently refused the cookie; the next request shows it.
    await api.auth.me().catch((error: unknown) => {
      setDropped(isSignedOut(error))
      throw error
    })
  }
  const verify = useAction(enter, { shows: () => true, onDone })
  const field = useRef<HTMLInputElement>(null)
  // As soon as a wrong code is shown as wrong, the next input replaces it.
  useLayoutEffect(() => {
    if (verify.error) field.current?.select()
  }, [verify.error])
  const again = useAction(() => api.auth.start(email), {
    done: 'login.resent',
    onDone: () => {
      setCode('')
      verify.reset()
      field.current?.focus()
    },
  })
  const onText = (text: string) => {
    const digits = text.replace(/\D/g, '').slice(0, LOGIN_CODE_DIGITS)
    setCode(digits)
    verify.reset()
    if (digits.length === LOGIN_CODE_DIGITS) verify.mutate(digits)
  }
  const mailed = delivery === 'mail'
  const icon = mailed ? <MailCheck size={16} /> : <SquareTerminal size={16} />
  const problemOf = (error: Error) =>
    isSignedOut(error) ? t(dropped ? 'login.dropped' : 'login.code.wrong') : explain(error)
  return (
    <div className="grid gap-4">
      {!isFailing && (
        <Notice icon={icon}>
          {t(mailed ? 'login.mail.sent' : 'login.terminal.sent', { email })}
        </Notice>
      )}
      <TextField
        ref={field}
        label={t('login.code')}
        hint={t('login.code.hint')}
        problem={verify.error && problemOf(verify.error)}
        className="h-14 text-center font-mono text-2xl tracking-[0.5em]"
        inputMode="numeric"
        autoComplete="one-time-code"
        autoFocus
        value={code}
        readOnly={verify.isPending}
        onText={onText}
      />
      <div className="flex justify-between">
        <Button kind="quiet" size="small" onClick={onBack}>
          {t('login.other')}
        </Button>
        <Button
          kind="quiet"
          size="small"
          busy={again.isPending}
          onClick={() => again.mutate(undefined)}
        >
          {t('login.resend')}
        </Button>
      </div>
    </div>
  )
}
