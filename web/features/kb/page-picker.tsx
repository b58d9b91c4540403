import { useNavigate } from '@tanstack/react-router'
import { useI18n } from '../../i18n/index.tsx'
import { SelectField } from '../../ui/form.tsx'
import { useDoc } from './parts.ts'

/** Goes to the passage at which a page begins; nothing where pages are not known. */
export function PagePicker({ docId }: { readonly docId: string }) {
  const { t } = useI18n()
  const navigate = useNavigate()
  const { data } = useDoc(docId)
  const pages = data?.pages ?? []
  if (pages.length < 2) return null
  const choices = pages.map(({ page, seq }) => ({
    value: String(seq),
    label: t('kb.place.page', { page }),
  }))
  return (
    <SelectField
      label={t('kb.doc.pages')}
      value=""
      choices={[{ value: '', label: t('kb.doc.pages.none') }, ...choices]}
      onPick={(seq) => {
        if (seq !== '') {
          void navigate({ to: '/app/kb/$doc', params: { doc: docId }, hash: seq })
        }
      }}
    />
  )
}
