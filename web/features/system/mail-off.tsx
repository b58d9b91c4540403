import { useState } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'

interface MailOffProps {
  readonly busy: boolean
  readonly onOff: () => void
}

/** Ends mail after a question: the password of the mail server cannot be read again. */
export function MailOff({ busy, onOff }: MailOffProps) {
  const { t } = useI18n()
  const [asked, setAsked] = useState(false)
  return (
    <>
      <Button onClick={() => setAsked(true)}>{t('mail.off')}</Button>
      <Confirm
        title={t('mail.off.title')}
        loss={t('mail.off.loss')}
        action={t('mail.off')}
        open={asked}
        busy={busy}
        onConfirm={() => {
          setAsked(false)
          onOff()
        }}
        onClose={() => setAsked(false)}
      />
    </>
  )
}
