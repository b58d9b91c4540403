import { type KeyboardEvent, useState } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { isComposing } from '../../lib/composing.ts'
import { Button } from '../../ui/button.tsx'
import { Attachments } from './attachments.tsx'
import { charsOf, isTooLong, QuestionLength } from './question-length.tsx'
import { Thumbs } from './thumbs.tsx'
import type { Turn } from './turn.ts'
import { useSentFiles } from './use-sent-files.ts'

/** What an edited question says and carries. */
export type Edited = Pick<Turn, 'text' | 'images' | 'files'>

/** Focuses the field, because the person has just asked for it; behind its last word. */
const focus = (field: HTMLTextAreaElement | null) => {
  field?.focus()
  field?.setSelectionRange(field.value.length, field.value.length)
}

interface EditorProps {
  readonly turn: Edited
  /** Called with null when the question stays unchanged. */
  readonly onEnd: (edited: Edited | null) => void
}

/** A question that is asked in other words, or with fewer of its pictures and files. */
export function QuestionEditor({ turn, onEnd }: EditorProps) {
  const { t } = useI18n()
  const [text, setText] = useState(turn.text)
  const [images, setImages] = useState(turn.images)
  const sent = useSentFiles(turn.files)
  const chars = charsOf(text)
  const isReady = !isTooLong(chars) && text.trim() !== ''
  const send = () => isReady && onEnd({ text: text.trim(), images, files: sent.sound })
  const onKey = (event: KeyboardEvent) => {
    if (isComposing(event.nativeEvent)) return
    if (event.key === 'Escape') onEnd(null)
    if (event.key !== 'Enter' || event.shiftKey) return
    event.preventDefault()
    send()
  }
  return (
    <div className="composer w-full">
      <Attachments list={sent.list} onDrop={sent.drop} />
      <Thumbs
        images={images}
        onDrop={(place) => setImages(images.filter((_, at) => at !== place))}
      />
      <textarea
        rows={2}
        value={text}
        aria-label={t('studio.edit')}
        ref={focus}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKey}
      />
      <div className="flex items-center justify-end gap-2">
        <QuestionLength chars={chars} />
        <Button size="small" onClick={() => onEnd(null)}>
          {t('action.cancel')}
        </Button>
        <Button size="small" kind="primary" disabled={!isReady} onClick={send}>
          {t('studio.edit.send')}
        </Button>
      </div>
    </div>
  )
}
