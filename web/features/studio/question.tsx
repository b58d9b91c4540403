import { ImageOff } from 'lucide-react'
import { type KeyboardEvent, useState } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { withIndexKeys } from '../../lib/index-keys.ts'
import { Button } from '../../ui/button.tsx'
import type { Turn } from './turn.ts'

interface QuestionProps {
  readonly turn: Turn
  /** Null while the question is not edited. */
  readonly onEdited: ((text: string | null) => void) | null
}

/** The question, or the form that edits it. */
export function QuestionView({ turn, onEdited }: QuestionProps) {
  const { t } = useI18n()
  return (
    <div className="grid justify-items-end gap-2">
      <span className="sr-only">{t('studio.you')}</span>
      {turn.images.length > 0 && (
        <div className="flex flex-wrap justify-end gap-2">
          {withIndexKeys(turn.images).map(({ key, item: image }, index) => (
            <img
              key={key}
              src={image}
              alt={t('studio.image', { number: index + 1 })}
              className="max-h-40 rounded-lg border border-line"
            />
          ))}
        </div>
      )}
      {turn.pictures > 0 && (
        <span className="badge">
          <ImageOff size={13} aria-hidden />
          {t('studio.image.gone', { count: turn.pictures })}
        </span>
      )}
      {onEdited ? (
        <Editor text={turn.text} onEnd={onEdited} />
      ) : (
        <div className="bubble">{turn.text}</div>
      )}
    </div>
  )
}

/** Focuses the field, because the person has just asked for it. */
const focus = (field: HTMLElement | null) => field?.focus()

interface EditorProps {
  readonly text: string
  /** Called with null when the text stays unchanged. */
  readonly onEnd: (text: string | null) => void
}

function Editor({ text: before, onEnd }: EditorProps) {
  const { t } = useI18n()
  const [text, setText] = useState(before)
  const send = () => text.trim() && onEnd(text.trim())
  const onKey = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Escape') onEnd(null)
    if (event.key !== 'Enter' || event.shiftKey) return
    event.preventDefault()
    send()
  }
  return (
    <div className="composer w-full">
      <textarea
        rows={2}
        value={text}
        aria-label={t('studio.edit')}
        ref={focus}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKey}
      />
      <div className="flex justify-end gap-2">
        <Button size="small" onClick={() => onEnd(null)}>
          {t('action.cancel')}
        </Button>
        <Button size="small" kind="primary" disabled={!text.trim()} onClick={send}>
          {t('studio.edit.send')}
        </Button>
      </div>
    </div>
  )
}
