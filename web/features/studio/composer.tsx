import {
  type ClipboardEvent,
  type FormEvent,
  type KeyboardEvent,
  type RefObject,
  useCallback,
  useState,
} from 'react'
import { IMAGES_MAX } from '../../../src/core/limits/contract.ts'
import { useI18n } from '../../i18n/index.tsx'
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

/** Pictures go with the question, other files to the knowledge base once that is confirmed. */
function useFiles(change: ReturnType<typeof useDraft>[1]) {
  const { t } = useI18n()
  const toasts = useToasts()
  const [documents, setDocuments] = useState<readonly File[]>([])
  const take = useCallback(
    async (files: readonly File[]) => {
      setDocuments(files.filter((file) => !isPicture(file)))
      const fit = files.filter((file) => isPicture(file) && isImage(file)).slice(0, IMAGES_MAX)
      const urls = await Promise.all(fit.map(toDataUrl))
      change(({ images }) => ({ images: [...images, ...urls].slice(0, IMAGES_MAX) }))
      if (fit.length < files.filter(isPicture).length) {
        toasts.show('bad', t('studio.images.wrong', { max: IMAGES_MAX }))
      }
    },
    [change, toasts, t],
  )
  const onFiles = useCallback((files: readonly File[]) => void take(files), [take])
  return { documents, onFiles, done: () => setDocuments([]) }
}

/** The question being written. Another session needs another `key`. */
export function Composer({ session, field, running, onSend, onStop, voice }: ComposerProps) {
  const { t } = useI18n()
  const [{ text, images }, change] = useDraft(session)
  const { documents, onFiles, done } = useFiles(change)
  const input = useFileInput()
  const over = useDrop(onFiles)
  const isReady = text.trim() !== '' || images.length > 0
  const send = (event?: FormEvent<HTMLFormElement>) => {
    event?.preventDefault()
    if (running || !isReady) return
    onSend(text.trim() || t('studio.images.ask'), images)
    change(() => ({ text: '', images: [] }))
    field.current?.form?.removeAttribute('data-typed')
  }
  const onKey = (event: KeyboardEvent) => {
    // Enter confirms a word while an input method composes.
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Escape' && running) onStop()
    if (event.key !== 'Enter' || event.shiftKey) return
    event.preventDefault()
    send()
  }
  const onPaste = (event: ClipboardEvent) => {
    const { files } = event.clipboardData
    if (files.length === 0) return
    event.preventDefault()
    onFiles([...files])
  }
  return (
    <form className="composer" onSubmit={send}>
      {over && <p className="drop-here">{t('studio.drop')}</p>}
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
        onChange={(event) => change(() => ({ text: event.target.value }))}
        onKeyDown={onKey}
        onPaste={onPaste}
      />
      {voice?.recording ? (
        <RecordingBar recording={voice.recording} onDone={voice.finish} onCancel={voice.cancel} />
      ) : (
        <ComposerActions
          running={running}
          voice={voice}
          ready={isReady}
          onAttach={input.open}
          onStop={() => {
            onStop()
            field.current?.focus()
          }}
        />
      )}
      <FileInput {...input} multiple label={t('studio.files')} onFiles={onFiles} />
      <AddToLibrary files={documents} onEnd={done} />
    </form>
  )
}
