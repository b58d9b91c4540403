import { type FormEvent, type ReactNode, useState } from 'react'
import { flushSync } from 'react-dom'
import { useI18n } from '../i18n/index.tsx'
import { Button } from './button.tsx'
import { Tried } from './form.tsx'

interface FormProps {
  readonly className?: string
  /** Whether the server would take it; where not, a field says why. */
  readonly isWhole: boolean
  readonly onSend: (form: HTMLFormElement) => void
  readonly children: ReactNode
}

/** A form that can always be sent: one that is not whole says what it lacks, and goes there. */
export function Form({ className = 'grid gap-5', isWhole, onSend, children }: FormProps) {
  const [tried, setTried] = useState(false)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    flushSync(() => setTried(!isWhole))
    if (isWhole) onSend(event.currentTarget)
    else event.currentTarget.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }
  return (
    <form className={className} onSubmit={submit}>
      <Tried value={tried}>{children}</Tried>
    </form>
  )
}

interface FormEndProps {
  /** What sends the form, where it does more than save. */
  readonly action?: string
  readonly busy: boolean
  readonly onCancel: () => void
}

/** The end of a form that opens above a page: leave it, or send it. */
export function FormEnd({ action, busy, onCancel }: FormEndProps) {
  const { t } = useI18n()
  return (
    <div className="flex justify-end gap-2">
      <Button onClick={onCancel}>{t('action.cancel')}</Button>
      <Button type="submit" kind="primary" busy={busy}>
        {action ?? t('action.save')}
      </Button>
    </div>
  )
}
