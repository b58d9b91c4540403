import { ChevronLeft, ChevronRight, FileText, ImageOff, Pencil } from 'lucide-react'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { isComposing } from '../../lib/composing.ts'
import { withIndexKeys } from '../../lib/index-keys.ts'
import { Button, CopyButton } from '../../ui/button.tsx'
import { Picture } from './picture.tsx'
import { charsTooMany, TooLong } from './question-length.tsx'
import type { Turn } from './turn.ts'
import type { Ways } from './use-versions.ts'

interface QuestionProps {
  readonly turn: Turn
  /** Null while the question is not edited. */
  readonly onEdited: ((text: string | null) => void) | null
  /** Null when it cannot be asked in other words. */
  readonly onEdit: (() => void) | null
  readonly ways: Ways | undefined
  readonly onVersion: (session: string) => void
}

/** A longer question is folded to this many lines. */
const LINES_SHOWN = 12
const LINE_CHARS = 90

const linesOf = (text: string): number =>
  text.split('\n').reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / LINE_CHARS)), 0)

/** The question, or the form that edits it. */
export function QuestionView({ turn, onEdited, onEdit, ways, onVersion }: QuestionProps) {
  const { t } = useI18n()
  const pencil = useRef<HTMLButtonElement>(null)
  const wasEdited = useRef(false)
  useEffect(() => {
    if (wasEdited.current && !onEdited) pencil.current?.focus()
    wasEdited.current = onEdited !== null
  }, [onEdited])
  return (
    <div className="question">
      <span className="sr-only">{t('studio.you')}</span>
      {turn.images.length > 0 && (
        <div className="flex flex-wrap justify-end gap-2">
          {withIndexKeys(turn.images).map(({ key, item: image }, index) => (
            <Picture key={key} src={image} number={index + 1} />
          ))}
        </div>
      )}
      {turn.pictures > 0 && (
        <span className="badge">
          <ImageOff size={13} aria-hidden />
          {t('studio.image.gone', { count: turn.pictures })}
        </span>
      )}
      {turn.files.map((name) => (
        <span key={name} className="badge">
          <FileText size={13} aria-hidden />
          <span className="truncate">{name}</span>
        </span>
      ))}
      {onEdited ? (
        <Editor text={turn.text} onEnd={onEdited} />
      ) : (
        <>
          <Bubble text={turn.text} />
          <div className="question-acts">
            {ways && <Versions ways={ways} onVersion={onVersion} />}
            <CopyButton text={turn.text} size="small" what={t('studio.question.copy')} />
            {onEdit && (
              <Button
                ref={pencil}
                kind="quiet"
                size="small"
                className="when-idle"
                icon={<Pencil size={15} aria-hidden />}
                aria-label={t('studio.edit')}
                onClick={onEdit}
              />
            )}
          </div>
        </>
      )}
    </div>
  )
}

/** The words of a question; many lines are folded. */
function Bubble({ text }: { readonly text: string }) {
  const { t } = useI18n()
  const isLong = linesOf(text) > LINES_SHOWN
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <div className="bubble" data-folded={(isLong && !isOpen) || undefined}>
        {text}
      </div>
      {isLong && (
        <Button kind="quiet" size="small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {t(isOpen ? 'studio.question.fold' : 'studio.question.unfold')}
        </Button>
      )}
    </>
  )
}

interface VersionsProps {
  readonly ways: Ways
  readonly onVersion: (session: string) => void
}

/** The arrow that led to another way of the talk, which has the focus there, too. */
let turned: { readonly to: string; readonly step: 1 | -1 } | null = null

/** Which of its ways the talk goes here, and the buttons to the others. */
function Versions({ ways: { sessions, here }, onVersion }: VersionsProps) {
  const { t } = useI18n()
  const arrow = (step: 1 | -1) => {
    const session = sessions[here + step]
    const Sign = step === 1 ? ChevronRight : ChevronLeft
    return (
      <Button
        kind="quiet"
        size="small"
        icon={<Sign size={15} aria-hidden />}
        aria-label={t(step === 1 ? 'studio.version.after' : 'studio.version.before')}
        idle={session === undefined}
        ref={(button) => {
          if (!button || turned?.to !== sessions[here] || turned?.step !== step) return
          turned = null
          button.focus({ preventScroll: true })
        }}
        onClick={() => {
          if (session === undefined) return
          turned = { to: session, step }
          onVersion(session)
        }}
      />
    )
  }
  return (
    <>
      {arrow(-1)}
      <span className="text-mini text-ink-3 tabular-nums">
        {here + 1}/{sessions.length}
      </span>
      {arrow(1)}
    </>
  )
}

/** Focuses the field, because the person has just asked for it; behind its last word. */
const focus = (field: HTMLTextAreaElement | null) => {
  field?.focus()
  field?.setSelectionRange(field.value.length, field.value.length)
}

interface EditorProps {
  readonly text: string
  /** Called with null when the text stays unchanged. */
  readonly onEnd: (text: string | null) => void
}

function Editor({ text: before, onEnd }: EditorProps) {
  const { t } = useI18n()
  const [text, setText] = useState(before)
  const tooMany = charsTooMany(text)
  const isReady = tooMany === 0 && text.trim() !== ''
  const send = () => isReady && onEnd(text.trim())
  const onKey = (event: KeyboardEvent) => {
    if (isComposing(event.nativeEvent)) return
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
      <div className="flex items-center justify-end gap-2">
        <TooLong chars={tooMany} />
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
