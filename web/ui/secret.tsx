import { KeyRound } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { useI18n } from '../i18n/index.tsx'
import { Button, CopyButton } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Notice } from './page.tsx'
import { Unsaved } from './unsaved.tsx'

interface SecretProps {
  readonly title: string
  /** The plaintext; null without one. */
  readonly secret: string | null
  /** What to do with it. */
  readonly children?: ReactNode
  readonly onClose: () => void
}

/** Longer than a double click, whose second click would close the dialog. */
const SETTLE_MS = 700

/** Shows a key once; it cannot be shown again. */
export function SecretDialog({ title, secret, children, onClose }: SecretProps) {
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
      <div className="mt-2 flex justify-end">
        <CopyButton text={secret ?? ''} label={t('copy.action')} />
      </div>
      {children}
      <div className="mt-5 flex justify-end">
        <Button kind="primary" disabled={!settled} onClick={onClose}>
          {t('secret.kept')}
        </Button>
      </div>
      <Unsaved isDirty={() => shown} loss={t('secret.leave')} />
    </Dialog>
  )
}
