import { ChevronLeft, ChevronRight, FileText, ImageOff, Pencil } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { withIndexKeys } from '../../lib/index-keys.ts'
import { Button, CopyButton } from '../../ui/button.tsx'
import { Picture } from './picture.tsx'
import { type Edited, QuestionEditor } from './question-editor.tsx'
import type { Turn } from './turn.ts'
import type { Ways } from './use-versions.ts'

interface QuestionProps {
  readonly turn: Turn
  /** Null while the question is not edited. */
  readonly onEdited: ((edited: Edited | null) => void) | null
  /** Null when it cannot be asked in other words. */
  readonly onEdit: (() => void) | null
  readonly ways: Ways | undefined
  readonly onVersion: (session: string) => void
}

/** A longer question is folded to this many lines. */
const LINES_SHOWN = 12
const LINE_WIDTH = 90

/** As many letters wide; a Chinese character is as wide as two. */
const widthOf = (line: string): number => line.length + line.replace(/[ -\u2e7f]+/g, '').length

const linesOf = (text: string): number =>
  text
    .split('\n')
    .reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / LINE_WIDTH)), 0)

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
      {!onEdited && turn.images.length > 0 && (
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
      {!onEdited &&
        withIndexKeys(turn.files).map(({ key, item: { name } }) => (
          <span key={key} className="badge">
            <FileText size={13} aria-hidden />
            <span className="truncate">{name}</span>
          </span>
        ))}
      {onEdited ? (
        <QuestionEditor turn={turn} onEnd={onEdited} />
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
