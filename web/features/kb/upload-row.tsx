import { CircleDashed, LoaderCircle, RotateCw, TriangleAlert, X } from 'lucide-react'
import { ApiError } from '../../api/client.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useExplain } from '../../lib/services.tsx'
import { sizeOf } from '../../lib/sizes.ts'
import { ProgressBar } from '../../ui/bars.tsx'
import { Button } from '../../ui/button.tsx'
import { titleOf } from './library.ts'
import { inPlaceOf, isSameFile, type Upload, type Uploads } from './uploads.ts'

const icon = { size: 17, 'aria-hidden': true } as const
const ICONS = {
  asked: <TriangleAlert {...icon} className="text-warn" />,
  waiting: <CircleDashed {...icon} className="text-ink-3" />,
  sending: <LoaderCircle {...icon} className="animate-spin text-accent" />,
  sent: <LoaderCircle {...icon} className="animate-spin text-accent" />,
  failed: <TriangleAlert {...icon} className="text-bad" />,
}

interface UploadRowProps {
  readonly upload: Upload
  readonly uploads: Uploads
  readonly megabytesMax: number
}

/** A file that the server does not have yet. */
export function UploadRow({ upload, uploads, megabytesMax }: UploadRowProps) {
  const { t, locale } = useI18n()
  const { file, state, share } = upload
  return (
    <li className="entry">
      <span className="mt-0.5">{ICONS[state]}</span>
      <div className="min-w-0">
        <p className="font-medium wrap-anywhere">{file.name}</p>
        <p
          className={`text-small ${state === 'failed' ? 'text-bad' : 'text-ink-3'}`}
          role={state === 'failed' || state === 'asked' ? 'alert' : undefined}
        >
          {state === 'sending' && t('kb.upload.sending', { percent: Math.round(share * 100) })}
          {state === 'waiting' && `${t('kb.upload.waiting')} · ${sizeOf(file.size, locale)}`}
          {(state === 'failed' || state === 'asked') && (
            <span className="sr-only">{file.name}: </span>
          )}
          {state === 'failed' && <Problem upload={upload} megabytesMax={megabytesMax} />}
          {state === 'asked' && <Question upload={upload} />}
        </p>
        {state === 'sending' && <ProgressBar share={share} />}
        <Answers upload={upload} uploads={uploads} />
      </div>
      {state !== 'sending' && (
        <Button
          kind="quiet"
          size="small"
          className="self-start"
          icon={<X size={15} aria-hidden />}
          aria-label={t('kb.upload.drop', { name: file.name })}
          onClick={() => uploads.drop(upload)}
        />
      )}
    </li>
  )
}

const isUnsupported = (problem: unknown) => problem instanceof ApiError && problem.status === 415

function Problem({ upload, megabytesMax }: Omit<UploadRowProps, 'uploads'>) {
  const { t } = useI18n()
  const explain = useExplain()
  const { problem } = upload
  if (typeof problem === 'string') return t(problem, { max: megabytesMax })
  if (isUnsupported(problem)) return t('kb.fail.unsupported')
  return explain(problem)
}

function Question({ upload }: { readonly upload: Upload }) {
  const { t } = useI18n()
  const title = upload.twin ? titleOf(upload.twin) : ''
  return t(isSameFile(upload) ? 'kb.twin.same' : 'kb.twin.title', { title })
}

/** The choices for a file that was not sent. */
function Answers({ upload, uploads }: Omit<UploadRowProps, 'megabytesMax'>) {
  const { t } = useI18n()
  const { state, twin, problem } = upload
  // The same file would be refused again.
  const isFinal = typeof problem === 'string' || isUnsupported(problem)
  if (state === 'failed' && isFinal) return null
  if (state !== 'failed' && state !== 'asked') return null
  return (
    <div className="mt-2 flex flex-wrap gap-2">
      {state === 'failed' && (
        <Button
          size="small"
          icon={<RotateCw size={15} aria-hidden />}
          aria-label={t('system.summary', { name: t('action.retry'), value: upload.file.name })}
          onClick={() => uploads.go(upload, { isMeant: upload.isMeant })}
        >
          {t('action.retry')}
        </Button>
      )}
      {state === 'asked' && (
        <>
          <Button
            size="small"
            aria-label={t('system.summary', {
              name: t('kb.twin.replace'),
              value: upload.file.name,
            })}
            onClick={() => uploads.go(upload, twin ? inPlaceOf(twin) : {})}
          >
            {t('kb.twin.replace')}
          </Button>
          <Button
            size="small"
            aria-label={t('system.summary', { name: t('kb.twin.both'), value: upload.file.name })}
            onClick={() => uploads.go(upload)}
          >
            {t('kb.twin.both')}
          </Button>
        </>
      )}
    </div>
  )
}
