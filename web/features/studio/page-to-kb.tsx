import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/index.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useToasts } from '../../lib/services.tsx'
import { PageDialog } from '../kb/page-dialog.tsx'

/** Adds a web page to the knowledge base without leaving the talk. */
export function PageToKb({ onClose }: { readonly onClose: () => void }) {
  const { t } = useI18n()
  const toasts = useToasts()
  const known = useQuery({ queryKey: ['kb', 'pages'], queryFn: api.sources.list, retry: false })
  return (
    <PageDialog
      open
      sources={known.data?.sources ?? []}
      onAdded={({ title }) => toasts.show('good', t('studio.page.added', { title }))}
      onClose={onClose}
    />
  )
}
