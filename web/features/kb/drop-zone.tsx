import {
  CircleCheck,
  CircleDashed,
  FileUp,
  LoaderCircle,
  RotateCw,
  TriangleAlert,
} from 'lucide-react'
import { type DragEvent, useRef, useState } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { Button } from '../../ui/button.tsx'
import { problemOf, type Upload, type Uploads } from './uploads.ts'

export function DropZone({ uploads, add, retry, clear }: Uploads) {
  const { t } = useI18n()
  const input = useRef<HTMLInputElement>(null)
  const [over, setOver] = useState(false)
  const onDrop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    add([...event.dataTransfer.files])
  }
  const busy = uploads.some(({ state }) => state === 'waiting' || state === 'sending')
  return (
    <div>
      <section
        className="drop"
        aria-label={t('kb.upload')}
        data-over={over}
        onDragOver={(event) => {
          event.preventDefault()
          setOver(true)
        }}
        onDragLeave={() => setOver(false)}
        onDrop={onDrop}
      >
        <FileUp size={24} strokeWidth={1.5} aria-hidden />
        <p>
          {t('kb.drop')}{' '}
          <button
            type="button"
            className="font-medium text-accent underline underline-offset-2"
            onClick={() => input.current?.click()}
          >
            {t('kb.choose')}
          </button>
        </p>
        <p className="text-[0.86rem] text-ink-3">{t('kb.drop.hint')}</p>
        <input
          ref={input}
          type="file"
          multiple
          accept=".txt,.md,.markdown,text/plain,text/markdown"
          className="hidden"
          aria-label={t('kb.choose')}
          onChange={(event) => {
            add([...(event.target.files ?? [])])
            event.target.value = ''
          }}
        />
      </section>
      {uploads.length > 0 && (
        <div className="card mt-3 overflow-hidden">
          <ul className="divide-y divide-line" aria-live="polite">
            {uploads.map((upload) => (
              <UploadRow key={upload.id} upload={upload} onRetry={() => retry(upload)} />
            ))}
          </ul>
          {!busy && (
            <div className="flex justify-end border-t border-line p-2">
              <Button kind="quiet" size="small" onClick={clear}>
                {t('kb.upload.clear')}
              </Button>
            </div>
          )}
        </div>
      )}
    </div>
  )
}

const ICONS = {
  waiting: <CircleDashed size={17} className="text-ink-3" aria-hidden />,
  sending: <LoaderCircle size={17} className="animate-spin text-accent" aria-hidden />,
  done: <CircleCheck size={17} className="text-good" aria-hidden />,
  failed: <TriangleAlert size={17} className="text-bad" aria-hidden />,
}

interface UploadRowProps {
  readonly upload: Upload
  readonly onRetry: () => void
}

function UploadRow({ upload, onRetry }: UploadRowProps) {
  const { t } = useI18n()
  const { file, state, note } = upload
  const waits = t(state === 'sending' ? 'kb.upload.sending' : 'kb.upload.waiting')
  const mayRetry = state === 'failed' && problemOf(file.name, file.size) === null
  return (
    <li className="flex min-h-12 items-center gap-3 px-4 py-1.5">
      {ICONS[state]}
      <span className="min-w-0 flex-1 truncate">{file.name}</span>
      <span className={`text-[0.88rem] ${state === 'failed' ? 'text-bad' : 'text-ink-3'}`}>
        {note || waits}
      </span>
      {mayRetry && (
        <Button
          kind="quiet"
          size="small"
          icon={<RotateCw size={15} aria-hidden />}
          aria-label={t('action.retry')}
          onClick={onRetry}
        />
      )}
    </li>
  )
}
