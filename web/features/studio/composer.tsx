import { ArrowUp, ImagePlus, Mic, Square, X } from 'lucide-react'
import { type ClipboardEvent, type KeyboardEvent, type RefObject, useRef, useState } from 'react'
import { IMAGES_MAX } from '../../../src/core/limits/contract.ts'
import { useI18n } from '../../i18n/index.tsx'
import { withIndexKeys } from '../../lib/index-keys.ts'
import { useToasts } from '../../lib/services.tsx'
import { Button } from '../../ui/button.tsx'
import { isImage, toDataUrl } from './images.ts'

interface ComposerProps {
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

export function Composer({ field, running, onSend, onStop, voice }: ComposerProps) {
  const { t } = useI18n()
  const toasts = useToasts()
  const input = useRef<HTMLInputElement>(null)
  const [text, setText] = useState('')
  const [images, setImages] = useState<readonly string[]>([])
  const attach = async (files: readonly File[]) => {
    const fit = files.filter(isImage).slice(0, IMAGES_MAX - images.length)
    if (fit.length < files.length) toasts.show('bad', t('studio.images.wrong', { max: IMAGES_MAX }))
    const urls = await Promise.all(fit.map(toDataUrl))
    setImages((before) => [...before, ...urls])
  }
  const send = () => {
    if (running || !text.trim()) return
    onSend(text.trim(), images)
    setText('')
    setImages([])
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
    <div className="composer">
      <Thumbs
        images={images}
        onDrop={(place) => setImages(images.filter((_, index) => index !== place))}
      />
      <textarea
        ref={field}
        rows={1}
        value={text}
        aria-label={t('studio.ask')}
        placeholder={t('studio.ask')}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKey}
        onPaste={onPaste}
      />
      <Actions
        running={running}
        voice={voice}
        ready={text.trim() !== ''}
        onAttach={() => input.current?.click()}
        onSend={send}
        onStop={() => {
          onStop()
          field.current?.focus()
        }}
      />
      <Picker input={input} onPick={(files) => void attach(files)} />
    </div>
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
  readonly onSend: () => void
}

function Actions({ running, voice, ready, onAttach, onSend, onStop }: ActionsProps) {
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
          kind="primary"
          icon={<ArrowUp {...icon} />}
          aria-label={t('studio.send')}
          disabled={!ready}
          onClick={onSend}
        />
      )}
    </div>
  )
}

interface ThumbsProps {
  readonly images: readonly string[]
  readonly onDrop: (place: number) => void
}

function Thumbs({ images, onDrop }: ThumbsProps) {
  const { t } = useI18n()
  if (images.length === 0) return null
  return (
    <ul className="flex flex-wrap gap-2 px-1 pt-1">
      {withIndexKeys(images).map(({ key, item: image }, index) => (
        <li key={key} className="relative">
          <img
            src={image}
            alt={t('studio.image', { number: index + 1 })}
            className="size-16 rounded-lg border border-line object-cover"
          />
          <button
            type="button"
            className="absolute -top-2 -right-2 rounded-full bg-ink p-1 text-bg"
            aria-label={t('studio.image.drop', { number: index + 1 })}
            onClick={() => onDrop(index)}
          >
            <X size={12} aria-hidden />
          </button>
        </li>
      ))}
    </ul>
  )
}
