import { useI18n } from '../../i18n/index.tsx'
import { useToasts } from '../../lib/services.tsx'
import { PageDialog } from '../kb/page-dialog.tsx'

/** Adds a web page to the knowledge base without leaving the talk. */
export function PageToKb({ onClose }: { readonly onClose: () => void }) {
  const { t } = useI18n()
  const toasts = useToasts()
  return (
    <PageDialog
      open
      onAdded={({ title }) => toasts.show('good', t('studio.page.added', { title }))}
      onClose={onClose}
    />
  )
}
