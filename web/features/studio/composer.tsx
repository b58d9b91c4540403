import {
  type ClipboardEvent,
  type FormEvent,
  type KeyboardEvent,
  lazy,
  type RefObject,
  Suspense,
  useState,
} from 'react'
import type { Prompt } from '../../api/talks.ts'
import { useI18n } from '../../i18n/index.tsx'
import { loadChunk } from '../../lib/lazy-chunks.ts'
import { useDrop } from '../../lib/use-drop.ts'
import { FileInput, useFileInput } from '../kb/file-input.tsx'
import { Attachments } from './attachments.tsx'
import { ComposerActions } from './composer-actions.tsx'
import { PromptList, selectField, usePrompts } from './prompt-list.tsx'
import { RecordingBar } from './recording-bar.tsx'
import { Thumbs } from './thumbs.tsx'
import type { Asked } from './use-conversation.ts'
import { PASTED_CHARS_MAX, useFiles, useQuestion } from './use-question.ts'
import type { Voice } from './use-voice.ts'

const AddToLibrary = lazy(async () => {
  const { AddToLibrary: Loaded } = await loadChunk(() => import('./add-to-library.tsx'))
  return { default: Loaded }
})

interface ComposerProps {
  readonly session: string
  readonly field: RefObject<HTMLTextAreaElement | null>
  readonly running: boolean
  readonly onSend: (question: Asked) => void
  readonly onStop: () => void
  /** Null when the page cannot record. */
  readonly voice: Voice | null
}

/** The question being written. Another session needs another `key`. */
export function Composer({ session, field, running, onSend, onStop, voice }: ComposerProps) {
  const { t } = useI18n()
  const files = useFiles(session)
  const { attached, onFiles } = files
  const question = useQuestion({ files, field, running, onSend, onStop })
  const { text, images, change, isReady, isQueued } = question
  const prompts = useKeptTexts(question, field)
  const input = useFileInput()
  const over = useDrop(onFiles)
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    question.send()
  }
  const onPaste = (event: ClipboardEvent) => {
    const pasted = event.clipboardData
    const words = pasted.getData('text/plain')
    if (pasted.files.length > 0) onFiles([...pasted.files])
    else if (words.length > PASTED_CHARS_MAX) files.paste(words)
    else return
    event.preventDefault()
  }
  return (
    <form className="composer" onSubmit={onSubmit}>
      {over && <p className="drop-here">{t('studio.drop')}</p>}
      <PromptList {...prompts} />
      <Attachments list={attached.list} onDrop={attached.drop} />
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
        onKeyDown={prompts.onKey}
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
          files={t('studio.files')}
          onAttach={input.open}
          onStop={() => {
            question.stop()
            field.current?.focus()
          }}
        />
      )}
      <FileInput {...input} multiple label={t('studio.files')} onFiles={onFiles} />
      {files.documents.length > 0 && (
        <Suspense>
          <AddToLibrary files={files.documents} onEnd={files.done} />
        </Suspense>
      )}
    </form>
  )
}

/** The list of kept texts above the field, and the keys that choose in it. */
function useKeptTexts(
  { text, write, onKey }: ReturnType<typeof useQuestion>,
  field: ComposerProps['field'],
) {
  const prompts = usePrompts(text)
  const [at, setAt] = useState(0)
  const chosen = prompts[Math.min(at, prompts.length - 1)]
  const onPick = (prompt: Prompt) => {
    setAt(0)
    write(prompt.text)
    requestAnimationFrame(() => selectField(field.current))
  }
  return {
    prompts,
    at: Math.min(at, prompts.length - 1),
    onPick,
    onKey(event: KeyboardEvent) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
      if (!chosen || event.nativeEvent.isComposing) return onKey(event)
      if (step !== undefined) setAt((at + step + prompts.length) % prompts.length)
      else if (event.key === 'Enter' || event.key === 'Tab') onPick(chosen)
      else return onKey(event)
      event.preventDefault()
    },
  }
}
