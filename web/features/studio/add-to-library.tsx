import { useI18n } from '../../i18n/index.tsx'
import { useToasts } from '../../lib/services.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { useUploads } from '../kb/uploads.ts'

interface AddToLibraryProps {
  /** When empty, the dialog is closed. */
  readonly files: readonly File[]
  readonly onEnd: () => void
}

/** Asks whether to add files that were dropped on a conversation to the knowledge base. */
export function AddToLibrary({ files, onEnd }: AddToLibraryProps) {
  const { t } = useI18n()
  const toasts = useToasts()
  const uploads = useUploads()
  return (
    <Confirm
      title={t('studio.files.title', { count: files.length })}
      loss={
        <>
          {files.map(({ name }) => name).join(', ')}
          <span className="mt-2 block">{t('studio.files.text')}</span>
        </>
      }
      action={t('studio.files.add')}
      isLoss={false}
      open={files.length > 0}
      busy={false}
      onConfirm={() => {
        uploads.add(files)
        toasts.show('good', t('studio.files.added'))
        onEnd()
      }}
      onClose={onEnd}
    />
  )
}
