import { FileUp, Globe, PenLine } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { KbLimits } from '../../api/types.ts'
import { useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'
import { FileInput, useFileInput } from './file-input.tsx'

interface AddProps {
  readonly limits: KbLimits | undefined
  readonly onFiles: (files: readonly File[]) => void
  readonly onPage: () => void
  readonly onWrite: () => void
}

/** The ways in: files, web pages and typed text. Files may be dropped anywhere on the page. */
export function AddPanel({ limits, onFiles, onPage, onWrite }: AddProps) {
  const { t } = useI18n()
  const input = useFileInput()
  const over = useDrop(onFiles)
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
      <p className="max-w-md text-[0.86rem] text-ink-3">
        {t('kb.drop.hint', { max: limits?.file_mb_max ?? '…' })}
      </p>
      <FileInput {...input} multiple label={t('kb.choose')} onFiles={onFiles} />
    </section>
  )
}

const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes('Files') === true

/** Takes files that are dropped on any part of the page. True while some are held over it. */
function useDrop(onFiles: (files: readonly File[]) => void): boolean {
  const [over, setOver] = useState(false)
  useEffect(() => {
    const onOver = (event: DragEvent) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      setOver(true)
    }
    const onLeave = (event: DragEvent) => event.relatedTarget === null && setOver(false)
    const onDrop = (event: DragEvent) => {
      setOver(false)
      if (!hasFiles(event)) return
      event.preventDefault()
      onFiles([...(event.dataTransfer?.files ?? [])])
    }
    addEventListener('dragover', onOver)
    addEventListener('dragleave', onLeave)
    addEventListener('drop', onDrop)
    return () => {
      removeEventListener('dragover', onOver)
      removeEventListener('dragleave', onLeave)
      removeEventListener('drop', onDrop)
    }
  }, [onFiles])
  return over
}
