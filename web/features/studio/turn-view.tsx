import { Route } from 'lucide-react'
import { memo, useState } from 'react'
import { type Key, useI18n } from '../../i18n/index.tsx'
import { Notice } from '../../ui/page.tsx'
import type { Passage } from '../kb/chunks-dialog.tsx'
import { Markdown } from '../markdown/markdown.tsx'
import { Broken } from './broken.tsx'
import { ConnectModel } from './connect-model.tsx'
import { Foot } from './foot.tsx'
import { Missed } from './missed.tsx'
import { QuestionView } from './question.tsx'
import { Chips, Citing } from './sources.tsx'
import { Thoughts } from './thoughts.tsx'
import type { Turn } from './turn.ts'
import { Waiting } from './waiting.tsx'

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
  /** Asks `text` in place of the turn; only the last turn can be replaced. */
  readonly onReplace: (turn: Turn, text: string) => void
}

interface TurnViewProps {
  readonly turn: Turn
  /** Whether it can be replaced. */
  readonly isLast: boolean
  /** Whether a search led to it. */
  readonly isFound: boolean
  readonly actions: TurnActions
}

export const TurnView = memo(({ turn, isLast, isFound, actions }: TurnViewProps) => {
  const { t } = useI18n()
  const [isEditing, setEditing] = useState(false)
  const [asked, setAsked] = useState<string | null>(null)
  const sound = asked ?? turn.sound
  const running = turn.state === 'running'
  const onEdited = (text: string | null) => {
    setEditing(false)
    if (text !== null) actions.onReplace(turn, text)
  }
  return (
    <li className="turn" data-found={isFound || undefined}>
      <QuestionView turn={turn} onEdited={isEditing ? onEdited : null} />
      <div className="grid grid-cols-1 gap-3" data-testid="reply" aria-busy={running}>
        <span className="sr-only">{t('role.assistant')}</span>
        <Chips turn={turn} onOpen={actions.onOpen} />
        {turn.fallback !== null && (
          <Notice tone="warn" icon={<Route size={16} aria-hidden />}>
            {t('fallback.title')} {t(reasonOf(turn.fallback))}
          </Notice>
        )}
        {running && turn.reply === '' && <Waiting since={turn.startedAt} />}
        <Thoughts text={turn.thoughts} />
        <Citing refs={turn.refs} onOpen={actions.onOpen}>
          <Markdown text={turn.reply} growing={running && turn.reply !== ''} />
        </Citing>
        {sound && (
          <audio key={sound} controls autoPlay src={sound} className="w-full">
            <track kind="captions" />
          </audio>
        )}
        {turn.isBuiltIn && isLast && <ConnectModel />}
        <Broken turn={turn} />
        {typeof turn.stats?.kb === 'object' && turn.stats.kb.shown === 0 && (
          <Missed question={turn.text} nearest={turn.stats.kb} onOpen={actions.onOpen} />
        )}
        {!running && (
          <Foot
            turn={turn}
            onSound={setAsked}
            onWhy={() => actions.onWhy(turn)}
            onAgain={isLast ? () => actions.onReplace(turn, turn.text) : null}
            onEdit={isLast ? () => setEditing(true) : null}
          />
        )}
      </div>
    </li>
  )
})
