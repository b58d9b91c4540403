import { ArrowUp, ImagePlus, Mic, Square } from 'lucide-react'
import {
  type ClipboardEvent,
  type FormEvent,
  type KeyboardEvent,
  type RefObject,
  useRef,
  useState,
} from 'react'
import { IMAGES_MAX } from '../../../src/core/limits/contract.ts'
import { useI18n } from '../../i18n/index.tsx'
import { useToasts } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { useConversations } from './conversations.ts'
import type { Draft } from './drafts.ts'
import { isImage, toDataUrl } from './images.ts'
import { Thumbs } from './thumbs.tsx'

interface ComposerProps {
  readonly session: string
  readonly field: RefObject<HTMLTextAreaElement | null>
  readonly running: boolean
  readonly onSend: (text: string, images: readonly string[]) => void
  readonly onStop: () => void
  /** Null when the page cannot record. */
  readonly voice: {
    readonly state: 'idle' | 'recording' | 'thinking'
    readonly toggle: () => void
  } | null
}

/** The draft of a session, which outlives the page. */
function useDraft(session: string) {
  const { drafts } = useConversations()
  const [draft, setDraft] = useState(() => drafts.read(session))
  const change = (how: (before: Draft) => Partial<Draft>) =>
    setDraft((before) => {
      const after = { ...before, ...how(before) }
      drafts.write(session, after)
      return after
    })
  return [draft, change] as const
}

/** The question being written. Another session needs another `key`. */
export function Composer({ session, field, running, onSend, onStop, voice }: ComposerProps) {
  const { t } = useI18n()
  const toasts = useToasts()
  const input = useRef<HTMLInputElement>(null)
  const [{ text, images }, change] = useDraft(session)
  const attach = async (files: readonly File[]) => {
    const fit = files.filter(isImage).slice(0, IMAGES_MAX - images.length)
    if (fit.length < files.length) toasts.show('bad', t('studio.images.wrong', { max: IMAGES_MAX }))
    const urls = await Promise.all(fit.map(toDataUrl))
    change((before) => ({ images: [...before.images, ...urls] }))
  }
  const send = (event?: FormEvent<HTMLFormElement>) => {
    event?.preventDefault()
    if (running || !text.trim()) return
    onSend(text.trim(), images)
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
    const files = imagesIn(event.clipboardData)
    if (files.length === 0) return
    event.preventDefault()
    void attach(files)
  }
  return (
    <form className="composer" onSubmit={send}>
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
      <Actions
        running={running}
        voice={voice}
        ready={text.trim() !== ''}
        onAttach={() => input.current?.click()}
        onStop={() => {
          onStop()
          field.current?.focus()
        }}
      />
      <Picker input={input} onPick={(files) => void attach(files)} />
    </form>
  )
}

interface PickerProps {
  readonly input: RefObject<HTMLInputElement | null>
  readonly onPick: (files: readonly File[]) => void
}

function Picker({ input, onPick }: PickerProps) {
  const { t } = useI18n()
  return (
    <input
      ref={input}
      type="file"
      accept="image/*"
      multiple
      className="hidden"
      aria-label={t('studio.images')}
      onChange={(event) => {
        onPick([...(event.target.files ?? [])])
        event.target.value = ''
      }}
    />
  )
}

const imagesIn = ({ files }: DataTransfer): File[] =>
  [...files].filter(({ type }) => type.startsWith('image/'))

interface ActionsProps extends Pick<ComposerProps, 'running' | 'voice' | 'onStop'> {
  readonly ready: boolean
  readonly onAttach: () => void
}

function Actions({ running, voice, ready, onAttach, onStop }: ActionsProps) {
  const { t } = useI18n()
  const icon = { size: 17, 'aria-hidden': true } as const
  return (
    <div className="flex items-center gap-1">
      <Button
        kind="quiet"
        size="small"
        icon={<ImagePlus {...icon} />}
        aria-label={t('studio.images')}
        onClick={onAttach}
      />
      {voice && (
        <Button
          kind={voice.state === 'recording' ? 'danger' : 'quiet'}
          size="small"
          icon={voice.state === 'recording' ? <Square {...icon} /> : <Mic {...icon} />}
          busy={voice.state === 'thinking'}
          aria-label={t(voice.state === 'recording' ? 'studio.voice.stop' : 'studio.voice')}
          onClick={voice.toggle}
        />
      )}
      <span className="ml-2 hidden flex-1 text-[0.82rem] text-ink-3 sm:inline">
        {t('studio.keys')}
      </span>
      <span className="flex-1 sm:hidden" />
      {running ? (
        <Button icon={<Square {...icon} />} onClick={onStop}>
          {t('studio.stop')}
        </Button>
      ) : (
        <Button
          type="submit"
          kind="primary"
          icon={<ArrowUp {...icon} />}
          aria-label={t('studio.send')}
          disabled={!ready}
        />
      )}
    </div>
  )
}
