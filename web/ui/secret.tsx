import { KeyRound } from 'lucide-react'
import { useI18n } from '../i18n/index.tsx'
import { Button, CopyButton } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { Notice } from './page.tsx'

interface SecretProps {
  readonly title: string
  /** The plaintext; null while there is none to show. */
  readonly secret: string | null
  readonly onClose: () => void
}

/** Shows a key the only time it can be seen. */
export function SecretDialog({ title, secret, onClose }: SecretProps) {
  const { t } = useI18n()
  return (
    <Dialog title={title} open={secret !== null} onClose={onClose} firm>
      <Notice tone="warn" icon={<KeyRound size={16} aria-hidden />}>
        {t('secret.once')}
      </Notice>
      <output className="code mt-4 break-all whitespace-pre-wrap" data-testid="secret">
        {secret}
      </output>
      <div className="mt-5 flex justify-end gap-2">
        <CopyButton text={secret ?? ''} label={t('copy.action')} />
        <Button kind="primary" onClick={onClose}>
          {t('secret.kept')}
        </Button>
      </div>
    </Dialog>
  )
}
