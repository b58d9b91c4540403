import {
  type ClipboardEvent,
  type FormEvent,
  type KeyboardEvent,
  type RefObject,
  useCallback,
  useEffect,
  useEffectEvent,
  useState,
} from 'react'
import { IMAGES_MAX } from '../../../src/core/limits/contract.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useMayChange } from '../../lib/rights.ts'
import { useToasts } from '../../lib/services.tsx'
import { useDrop } from '../../lib/use-drop.ts'
import { FileInput, useFileInput } from '../kb/file-input.tsx'
import { AddToLibrary } from './add-to-library.tsx'
import { ComposerActions } from './composer-actions.tsx'
import { useConversations } from './conversations.ts'
import type { Draft } from './drafts.ts'
import { isImage, toDataUrl } from './images.ts'
import { RecordingBar } from './recording-bar.tsx'
import { Thumbs } from './thumbs.tsx'
import type { Voice } from './use-voice.ts'

interface ComposerProps {
  readonly session: string
  readonly field: RefObject<HTMLTextAreaElement | null>
  readonly running: boolean
  readonly onSend: (text: string, images: readonly string[]) => void
  readonly onStop: () => void
  /** Null when the page cannot record. */
  readonly voice: Voice | null
}

/** The draft of a session, which outlives the page. */
function useDraft(session: string) {
  const { drafts } = useConversations()
  const [draft, setDraft] = useState(() => drafts.read(session))
  const change = useCallback(
    (how: (before: Draft) => Partial<Draft>) =>
      setDraft((before) => {
        const after = { ...before, ...how(before) }
        drafts.write(session, after)
        return after
      }),
    [drafts, session],
  )
  return [draft, change] as const
}

const isPicture = ({ type }: File) => type.startsWith('image/')

/**
 * Adds pictures to the question, and other files to the knowledge base after confirmation, if the
 * person may add documents.
 */
function useFiles(change: ReturnType<typeof useDraft>[1], mayAdd: boolean) {
  const { t } = useI18n()
  const toasts = useToasts()
  const [documents, setDocuments] = useState<readonly File[]>([])
  const take = useCallback(
    async (files: readonly File[]) => {
      const others = files.filter((file) => !isPicture(file))
      if (mayAdd) setDocuments(others)
      else if (others.length > 0) toasts.show('bad', t('studio.files.refused'))
      const fit = files.filter((file) => isPicture(file) && isImage(file)).slice(0, IMAGES_MAX)
      const urls = await Promise.all(fit.map(toDataUrl))
      change(({ images }) => ({ images: [...images, ...urls].slice(0, IMAGES_MAX) }))
      if (fit.length < files.filter(isPicture).length) {
        toasts.show('bad', t('studio.images.wrong', { max: IMAGES_MAX }))
      }
    },
    [change, mayAdd, toasts, t],
  )
  const onFiles = useCallback((files: readonly File[]) => void take(files), [take])
  return { documents, onFiles, done: () => setDocuments([]) }
}

/** The question being written. When it is sent during an answer, it waits for the end. */
function useQuestion({ session, field, running, onSend, onStop }: Omit<ComposerProps, 'voice'>) {
  const { t } = useI18n()
  const [{ text, images }, change] = useDraft(session)
  const [isQueued, setQueued] = useState(false)
  const isReady = text.trim() !== '' || images.length > 0
  const send = () => {
    setQueued(running && isReady)
    if (running || !isReady) return
    onSend(text.trim() || t('studio.images.ask'), images)
    change(() => ({ text: '', images: [] }))
    field.current?.form?.removeAttribute('data-typed')
  }
  const sendNow = useEffectEvent(send)
  useEffect(() => {
    if (isQueued && !running) sendNow()
  }, [isQueued, running])
  const stop = () => {
    setQueued(false)
    onStop()
  }
  return {
    text,
    images,
    change,
    isReady,
    isQueued,
    send,
    stop,
    write(next: string) {
      setQueued(false)
      change(() => ({ text: next }))
    },
    onKey(event: KeyboardEvent) {
      // Enter confirms a word while an input method composes.
      if (event.nativeEvent.isComposing) return
      if (event.key === 'Escape' && running) stop()
      if (event.key !== 'Enter' || event.shiftKey) return
      event.preventDefault()
      send()
    },
  }
}

/** The question being written. Another session needs another `key`. */
export function Composer(props: ComposerProps) {
  const { field, running, voice } = props
  const { t } = useI18n()
  const question = useQuestion(props)
  const { text, images, change, isReady, isQueued } = question
  const mayAdd = useMayChange()
  const { documents, onFiles, done } = useFiles(change, mayAdd)
  const files = t(mayAdd ? 'studio.files' : 'studio.files.pictures')
  const input = useFileInput()
  const over = useDrop(onFiles)
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    question.send()
  }
  const onPaste = (event: ClipboardEvent) => {
    const { files: pasted } = event.clipboardData
    if (pasted.length === 0) return
    event.preventDefault()
    onFiles([...pasted])
  }
  return (
    <form className="composer" onSubmit={onSubmit}>
      {over && <p className="drop-here">{t(mayAdd ? 'studio.drop' : 'studio.drop.pictures')}</p>}
      <Thumbs
        images={images}
        onDrop={(place) => change(() => ({ images: images.filter((_, at) => at !== place) }))}
      />
      <textarea
        ref={field}
        rows={1}
        value={text}
        aria-label={t('studio.ask')}
        placeholder={t('studio.ask')}
        onChange={({ target }) => question.write(target.value)}
        onKeyDown={question.onKey}
        onPaste={onPaste}
      />
      {voice?.recording ? (
        <RecordingBar recording={voice.recording} onDone={voice.finish} onCancel={voice.cancel} />
      ) : (
        <ComposerActions
          running={running}
          voice={voice}
          ready={isReady}
          queued={isQueued}
          files={files}
          onAttach={input.open}
          onStop={() => {
            question.stop()
            field.current?.focus()
          }}
        />
      )}
      <FileInput
        {...input}
        multiple
        accept={mayAdd ? undefined : 'image/*'}
        label={files}
        onFiles={onFiles}
      />
      <AddToLibrary files={documents} onEnd={done} />
    </form>
  )
}
