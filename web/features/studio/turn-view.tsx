import { Route } from 'lucide-react'
import { memo, useState } from 'react'
import { type Key, useI18n } from '../../i18n/index.tsx'
import { Notice } from '../../ui/page.tsx'
import type { Passage } from '../kb/chunks-dialog.tsx'
import { Markdown } from '../markdown/markdown.tsx'
import { Broken } from './broken.tsx'
import { ConnectModel } from './connect-model.tsx'
import { Foot } from './foot.tsx'
import { QuestionView } from './question.tsx'
import type { Edited } from './question-editor.tsx'
import { Remembered } from './remembered.tsx'
import { Sound } from './sound.tsx'
import { Citing, Sources } from './sources.tsx'
import { Thoughts } from './thoughts.tsx'
import { ToolLine } from './tool-line.tsx'
import { asksOf, type Turn } from './turn.ts'
import type { Ways } from './use-versions.ts'
import { Waiting } from './waiting.tsx'
import type { Wish } from './wish.ts'

const REASONS: Readonly<Record<string, Key>> = {
  retry_exhausted: 'fallback.retry_exhausted',
  upstream_4xx: 'fallback.upstream_4xx',
  upstream_5xx: 'fallback.upstream_5xx',
  channel_unavailable: 'fallback.channel_unavailable',
}

export const reasonOf = (reason: string): Key => REASONS[reason] ?? 'fallback.provider_error'

export interface TurnActions {
  readonly onOpen: (passage: Passage) => void
  readonly onWhy: (turn: Turn) => void
  /** Asks `text` in place of the turn, or in another way of the talk; false: not asked. */
  readonly onReplace: (turn: Turn, text: string, wish?: Wish) => Promise<boolean>
  /** Shows another way of the talk. */
  readonly onVersion: (session: string) => void
  /** The next question is to come after the turn of this number; absent beside another talk. */
  readonly onFrom?: (seq: number) => void
  /** What was shown is deleted: another way is shown, or a new talk; absent as above. */
  readonly onGone?: (session: string | null) => void
}

interface TurnViewProps {
  readonly turn: Turn
  readonly isLast: boolean
  /** Whether it can be asked again, or in other words, while no answer comes. */
  readonly mayReplace: boolean
  /** The other ways of the talk at this turn. */
  readonly ways: Ways | undefined
  /** Whether a search led to it. */
  readonly isFound: boolean
  readonly actions: TurnActions
}

export const TurnView = memo((props: TurnViewProps) => {
  const { turn, isLast, mayReplace, ways, isFound, actions } = props
  const { t } = useI18n()
  const [isEditing, setEditing] = useState(false)
  const [asked, setAsked] = useState<Blob | null>(null)
  const sound = asked ?? turn.sound
  const running = turn.state === 'running'
  const isAwaited = running && turn.reply === '' && asksOf(turn).length === 0
  const waiting = isAwaited ? <Waiting since={turn.startedAt} /> : null
  const { seq } = turn
  const { onFrom, onGone } = actions
  const again = mayReplace ? (wish?: Wish) => void actions.onReplace(turn, turn.text, wish) : null
  const onEdit = mayReplace && !running ? () => setEditing(true) : null
  const onEdited = async (edited: Edited | null) => {
    // What was not asked stays in the field.
    const isOver = edited === null || (await actions.onReplace({ ...turn, ...edited }, edited.text))
    if (isOver) setEditing(false)
  }
  return (
    <li className="turn" data-found={isFound || undefined} tabIndex={-1}>
      <QuestionView
        turn={turn}
        onEdited={isEditing ? onEdited : null}
        onEdit={onEdit}
        ways={ways}
        onVersion={actions.onVersion}
      />
      <div className="grid grid-cols-1 gap-3" data-testid="reply" aria-busy={running}>
        <span className="sr-only">{t('role.assistant')}</span>
        {turn.fallback !== null && (
          <Notice tone="warn" icon={<Route size={16} aria-hidden />}>
            {t('fallback.title')} {t(reasonOf(turn.fallback))}
          </Notice>
        )}
        <Thoughts text={turn.thoughts} waiting={waiting} ms={turn.firstMs} />
        <ToolLine tools={turn.tools} />
        {turn.thoughts === '' && waiting}
        <Citing refs={turn.refs} onOpen={actions.onOpen}>
          <Markdown text={turn.reply} growing={running && turn.reply !== ''} />
        </Citing>
        <Sources turn={turn} onOpen={actions.onOpen} />
        <Remembered writes={turn.memory} />
        {turn.stats?.kb === 'skipped' && (
          <p className="text-small text-ink-3">{t('studio.kb-skipped')}</p>
        )}
        {sound && <Sound sound={sound} />}
        {turn.isBuiltIn && isLast && <ConnectModel />}
        {turn.wish?.answer_words !== undefined && (
          <p className="text-small text-ink-3">
            {t('studio.wished', { count: turn.wish.answer_words })}
          </p>
        )}
        <Broken turn={turn} isLast={isLast} onAgain={again} />
        {!running && (
          <Foot
            turn={turn}
            ways={ways}
            onSound={setAsked}
            onWhy={() => actions.onWhy(turn)}
            onAgain={turn.state === 'failed' ? null : again}
            onEdit={onEdit}
            onFrom={onFrom && seq !== null && !isLast ? () => onFrom(seq) : null}
            onGone={onGone ?? null}
          />
        )}
      </div>
    </li>
  )
})
