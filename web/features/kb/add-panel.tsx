import { FileUp, Globe, PenLine } from 'lucide-react'
import type { KbLimits } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { DROPPED_FILES_MAX } from '../../lib/dropped-folders.ts'
import { useToasts } from '../../lib/services.tsx'
import { useDrop } from '../../lib/use-drop.ts'
import { useStable } from '../../lib/use-stable.ts'
import { Button } from '../../ui/button.tsx'
import { FileInput, useFileInput } from './file-input.tsx'

interface AddProps {
  readonly limits: KbLimits | undefined
  /** The collection that they go into, where one is shown. */
  readonly into: string | undefined
  readonly onFiles: (files: readonly File[]) => void
  readonly onPage: () => void
  readonly onWrite: () => void
}

/** The ways to add documents: files, web pages and typed text. Files may be dropped anywhere. */
export function AddPanel({ limits, into, onFiles, onPage, onWrite }: AddProps) {
  const { t } = useI18n()
  const input = useFileInput()
  const toasts = useToasts()
  const onDropped = useStable((files: readonly File[], isWhole: boolean) => {
    onFiles(files)
    if (!isWhole) toasts.show('bad', t('kb.drop.part', { max: DROPPED_FILES_MAX }))
  })
  const over = useDrop(onDropped)
  const icon = { size: 16, 'aria-hidden': true } as const
  return (
    <section className="drop" aria-label={t('kb.add')}>
      <FileUp size={24} strokeWidth={1.5} aria-hidden />
      <p>{t('kb.drop')}</p>
      {over && <p className="drop-here">{t('kb.drop.now')}</p>}
      <div className="flex flex-wrap justify-center gap-2">
        <Button kind="primary" icon={<FileUp {...icon} />} onClick={input.open}>
          {t('kb.choose')}
        </Button>
        <Button icon={<Globe {...icon} />} onClick={onPage}>
          {t('kb.page.add')}
        </Button>
        <Button icon={<PenLine {...icon} />} onClick={onWrite}>
          {t('kb.write')}
        </Button>
      </div>
      {into !== undefined && (
        <p className="text-note wrap-anywhere">{t('kb.add.into', { name: into })}</p>
      )}
      <p className="max-w-md text-small text-ink-3">
        {t('kb.drop.hint', { max: limits?.file_mb_max ?? '…' })}
      </p>
      <FileInput {...input} multiple label={t('kb.choose')} onFiles={onFiles} />
    </section>
  )
}
