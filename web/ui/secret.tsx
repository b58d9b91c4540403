import { KeyRound } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useI18n } from '../i18n/index.tsx'
import { Button, CopyButton } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Notice } from './page.tsx'

interface SecretProps {
  readonly title: string
  /** The plaintext; null without one. */
  readonly secret: string | null
  readonly onClose: () => void
}

/** Longer than a double click, whose second click would close the dialog. */
const SETTLE_MS = 700

/** Shows a key once; it cannot be shown again. */
export function SecretDialog({ title, secret, onClose }: SecretProps) {
  const { t } = useI18n()
  const [settled, setSettled] = useState(false)
  const shown = secret !== null
  useEffect(() => {
    setSettled(false)
    const timer = shown ? setTimeout(() => setSettled(true), SETTLE_MS) : undefined
    return () => clearTimeout(timer)
  }, [shown])
  return (
    <Dialog title={title} open={shown} onClose={() => settled && onClose()} firm>
      <Notice tone="warn" icon={<KeyRound size={16} aria-hidden />}>
        {t('secret.once')}
      </Notice>
      <output className="code mt-4 break-all whitespace-pre-wrap" data-testid="secret">
        {secret}
      </output>
      <div className="mt-5 flex justify-end gap-2">
        <CopyButton text={secret ?? ''} label={t('copy.action')} />
        <Button kind="primary" disabled={!settled} onClick={onClose}>
          {t('secret.kept')}
        </Button>
      </div>
    </Dialog>
  )
}
