import type { ReactNode } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { Button, CopyButton } from '../../ui/button.tsx'
import { Notice } from '../../ui/page.tsx'
import { useSignInPage } from './address-notice.tsx'

interface UnmailedProps {
  /** What happened, and what to do with the address. */
  readonly children: ReactNode
  readonly onClose: () => void
}

/** Nothing tells the other person but who is here, who gets an address to pass on. */
export function Unmailed({ children, onClose }: UnmailedProps) {
  const { t } = useI18n()
  const address = useSignInPage()
  const isHereOnly = ['localhost', '127.0.0.1', '[::1]'].includes(new URL(address).hostname)
  return (
    <div className="grid gap-4" role="status">
      <p>{children}</p>
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
