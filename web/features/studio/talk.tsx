import { ScrollText } from 'lucide-react'
import { memo, useContext, useEffect, useRef } from 'react'
import { useI18n } from '../../i18n/index.tsx'
import { OUTDATED } from '../../lib/lazy-chunks.ts'
import { Button } from '../../ui/button.tsx'
import { Markdown } from '../markdown/markdown.tsx'
import { isTemporary } from './fresh.ts'
import { InPlace } from './in-place.tsx'
import { TalkName } from './rating.tsx'
import type { Turn } from './turn.ts'
import { type TurnActions, TurnView } from './turn-view.tsx'
import type { Conversation } from './use-conversation.ts'
import { useElsewhere } from './use-elsewhere.ts'

interface TalkProps {
  readonly conversation: Pick<Conversation, 'turns' | 'older' | 'summary' | 'running' | 'found'>
  readonly ways: Conversation['ways']
  readonly actions: TurnActions
}

/** The turns of a conversation, oldest first. */
export const Talk = memo(({ conversation, ways, actions }: TalkProps) => {
  const { turns, older, summary, running, found } = conversation
  const last = turns.at(-1)
  const session = useContext(TalkName) ?? ''
  useHeld(session)
  const newest = older.rows[0]?.created_at
  useElsewhere(session, newest, running || newest === undefined)
  return (
    <>
      <Older older={older} first={turns[0]} />
      {summary && !older.hasNextPage && <Summary text={summary} />}
      <InPlace first={turns[0]?.id} />
      <ol className="turns" data-running={running || undefined}>
        {turns.map((turn) => (
          <TurnView
            key={turn.id}
            turn={turn}
            isLast={turn === last}
            mayReplace={turn === last || turn.seq !== null}
            ways={turn.seq === null ? undefined : ways.get(turn.seq)}
            isFound={found !== null && turn.seq === found}
            actions={actions}
          />
        ))}
      </ol>
    </>
  )
})

/** Has the browser ask before a page that the server has outdated loses a temporary talk. */
function useHeld(session: string) {
  useEffect(() => {
    if (!isTemporary(session)) return
    const ask = (event: Event) => event.preventDefault()
    const onOutdated = () => addEventListener('beforeunload', ask)
    addEventListener(OUTDATED, onOutdated)
    return () => {
      removeEventListener(OUTDATED, onOutdated)
      removeEventListener('beforeunload', ask)
    }
  }, [session])
}

/** The summary of turns that the model no longer reads verbatim. */
function Summary({ text }: { readonly text: string }) {
  const { t } = useI18n()
  return (
    <details className="notice block">
      <summary className="cursor-pointer">
        <ScrollText size={15} className="mr-2 inline" aria-hidden />
        {t('sessions.summary')}
      </summary>
      <div className="mt-2">
        <Markdown text={text} />
      </div>
    </details>
  )
}

interface OlderProps {
  readonly older: Conversation['older']
  readonly first: Turn | undefined
}

/** Loads older turns when it comes into view, and keeps the scroll position. */
function Older({ older, first }: OlderProps) {
  const { t } = useI18n()
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = older
  const button = useRef<HTMLDivElement>(null)
  // Looks anew after each page, which may have left it in view.
  useEffect(() => {
    if (!button.current || !hasNextPage || !first) return
    const seen = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting) void fetchNextPage()
    })
    seen.observe(button.current)
    return () => seen.disconnect()
  }, [hasNextPage, fetchNextPage, first])
  if (!hasNextPage) return null
  return (
    <div ref={button} className="text-center">
      <Button size="small" busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
        {t('studio.older')}
      </Button>
    </div>
  )
}
