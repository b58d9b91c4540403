import {
  type ClipboardEvent,
  type FormEvent,
  type KeyboardEvent,
  type RefObject,
  Suspense,
  useId,
  useState,
} from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { isComposing } from '../../lib/composing.ts'
import { lazyPart } from '../../lib/lazy-part.ts'
import { useDrop } from '../../lib/use-drop.ts'
import { FileInput, useFileInput } from '../kb/file-input.tsx'
import { AddMenu } from './add-menu.tsx'
import { ComposerActions } from './composer-actions.tsx'
import { ariaOf, HAS_FIELD } from './prompt-aria.ts'
// Not loaded when met: then the server may be away.
import { QueueList } from './queue-list.tsx'
import { Thumbs } from './thumbs.tsx'
import type { Asked } from './use-asking.ts'
import { PASTED_CHARS_MAX, useFiles, useQuestion } from './use-question.ts'
import type { Setup } from './use-setup.ts'
import { type Command, type Suggestion, useSuggestions } from './use-suggestions.ts'
import type { Voice } from './use-voice.ts'

const Attachments = lazyPart(() => import('./attachments.tsx'), 'Attachments')
const ToolsDialog = lazyPart(() => import('./tools-dialog.tsx'), 'ToolsDialog')
const PageToKb = lazyPart(() => import('./page-to-kb.tsx'), 'PageToKb')
const Scope = lazyPart(() => import('./scope.tsx'), 'Scope')
const PromptList = lazyPart(() => import('./prompt-list.tsx'), 'PromptList')
const PromptFields = lazyPart(() => import('./prompt-fields.tsx'), 'PromptFields')
const RecordingBar = lazyPart(() => import('./recording-bar.tsx'), 'RecordingBar')

interface ComposerProps {
  readonly session: string
  readonly field: RefObject<HTMLTextAreaElement | null>
  readonly running: boolean
  /** Whether a question that is sent during an answer waits in the field; else in a list. */
  readonly holds?: boolean
  /** Resolved with false, the question was not sent and goes back into the field. */
  readonly onSend: (question: Asked) => undefined | Promise<boolean>
  readonly onStop: () => void
  /** Null when the page cannot record; absent where nothing is asked by voice. */
  readonly voice?: Voice | null
  /** Whether a call has its place; what was written is kept. */
  readonly hidden?: boolean
  readonly onCall?: () => void
  /** Another assistant is to answer from here on. */
  readonly onApp: (app: string) => void
  readonly commands?: Commands
  /** What decides how the question is answered; absent where two are asked. */
  readonly setup?: Setup
}

/** What is done for each act that can be chosen in the field. */
export type Commands = Readonly<Partial<Record<Command, () => void>>>

/** The question being written. Another session needs another `key`. */
export function Composer(props: ComposerProps) {
  const {
    session,
    field,
    running,
    holds = false,
    onSend,
    onStop,
    voice,
    hidden,
    onCall,
    setup,
  } = props
  const { t } = useI18n()
  const files = useFiles(session)
  const { attached, onFiles } = files
  const question = useQuestion({ files, field, running, holds, onSend, onStop })
  const { text, images, collections, change, chars, isReady, isQueued } = question
  const { fields, onFilled, ...prompts } = useSuggested(question, props)
  const listId = useId()
  const input = useFileInput()
  const [dialog, setDialog] = useState<'tools' | 'page' | null>(null)
  const over = useDrop(onFiles)
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    question.send()
  }
  const onPaste = (event: ClipboardEvent) => {
    const pasted = event.clipboardData
    const words = pasted.getData('text/plain')
    // Office programs put a picture of the words beside them.
    const isText = words.trim() !== '' && pasted.types.includes('text/html')
    if (pasted.files.length > 0 && !isText) onFiles([...pasted.files])
    else if (words.length > PASTED_CHARS_MAX) files.paste(words)
    else return
    event.preventDefault()
  }
  return (
    <form className="composer" hidden={hidden} onSubmit={onSubmit}>
      {over && <p className="drop-here">{t('studio.drop')}</p>}
      <QueueList session={session} running={running} onEdit={question.takeBack} />
      {prompts.list.length > 0 && (
        <Suspense>
          <PromptList id={listId} list={prompts.list} at={prompts.at} onPick={prompts.onPick} />
        </Suspense>
      )}
      <p className="sr-only" role="status">
        {prompts.list.length > 0 && t('studio.prompts.count', { count: prompts.list.length })}
      </p>
      <p className="sr-only" role="status">
        {attached.list.map(({ name, file, problem }) => {
          if (problem !== null) return ''
          return file?.state === 'ready' ? `${name} ` : `${name} ${t('studio.attached.reading')} `
        })}
      </p>
      {attached.list.length > 0 && (
        <Suspense>
          <Attachments list={attached.list} onDrop={attached.drop} />
        </Suspense>
      )}
      <Thumbs
        images={images}
        onDrop={(place) => change(() => ({ images: images.filter((_, at) => at !== place) }))}
      />
      {(collections.length > 0 || setup?.isChanged) && (
        <Suspense>
          <Scope
            collections={collections}
            setup={setup}
            onTools={() => setDialog('tools')}
            onDrop={(id) =>
              change(() => ({ collections: collections.filter((one) => one !== id) }))
            }
          />
        </Suspense>
      )}
      <textarea
        ref={field}
        rows={1}
        value={text}
        aria-label={t('studio.ask')}
        placeholder={t('studio.ask')}
        {...ariaOf(listId, prompts)}
        onChange={({ target }) => question.write(target.value)}
        onKeyDown={prompts.onKey}
        onPaste={onPaste}
      />
      {voice?.recording ? (
        <Suspense>
          <RecordingBar recording={voice.recording} onDone={voice.finish} onCancel={voice.cancel} />
        </Suspense>
      ) : (
        <ComposerActions
          running={running}
          voice={voice}
          chars={chars}
          ready={isReady}
          queued={isQueued}
          add={
            <AddMenu
              onAttach={input.open}
              onFiles={onFiles}
              onTools={setup && (() => setDialog('tools'))}
              onPage={() => setDialog('page')}
            />
          }
          onCall={onCall}
          onStop={() => {
            question.stop()
            field.current?.focus()
          }}
        />
      )}
      <Suspense>
        {dialog === 'tools' && setup && (
          <ToolsDialog setup={setup} onClose={() => setDialog(null)} />
        )}
        {dialog === 'page' && <PageToKb onClose={() => setDialog(null)} />}
      </Suspense>
      <FileInput {...input} multiple label={t('studio.files')} onFiles={onFiles} />
      {fields !== null && (
        <Suspense>
          <PromptFields text={fields} onEnd={onFilled} />
        </Suspense>
      )}
    </form>
  )
}

/** The list above the field, and the keys that choose in it. */
function useSuggested(
  { text, write, onKey, change }: ReturnType<typeof useQuestion>,
  { field, onApp, commands = {} }: ComposerProps,
) {
  const fitting = useSuggestions(text, Object.keys(commands) as Command[])
  /** The text at which Escape has closed the list. */
  const [closedAt, setClosedAt] = useState<string | null>(null)
  if (closedAt !== null && closedAt !== text) setClosedAt(null)
  const list = closedAt === text ? [] : fitting
  const [at, setAt] = useState(0)
  const chosen = list[Math.min(at, list.length - 1)]
  const [fields, setFields] = useState<string | null>(null)
  const put = (words: string) => {
    write(words)
    requestAnimationFrame(() => field.current?.focus())
  }
  const onPick = ({ takes }: Suggestion) => {
    setAt(0)
    if ('app' in takes) {
      put('')
      onApp(takes.app)
    } else if ('command' in takes) {
      put('')
      commands[takes.command]?.()
    } else if ('rest' in takes) {
      put(takes.rest)
      change((now) => ({ collections: [...new Set([...now.collections, takes.collection])] }))
    } else if (HAS_FIELD.test(takes.text)) setFields(takes.text)
    else put(takes.text)
  }
  return {
    list,
    /** The kept text whose fields are asked for; null without one. */
    fields,
    onFilled(words: string | null) {
      setFields(null)
      if (words !== null) put(words)
    },
    at: Math.min(at, list.length - 1),
    onPick,
    onKey(event: KeyboardEvent) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
      if (!chosen || isComposing(event.nativeEvent)) return onKey(event)
      if (step !== undefined) setAt((at + step + list.length) % list.length)
      else if (event.key === 'Escape') setClosedAt(text)
      else if ((event.key === 'Enter' || event.key === 'Tab') && !event.shiftKey) onPick(chosen)
      else return onKey(event)
      event.preventDefault()
    },
  }
}
