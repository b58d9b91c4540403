import { useQuery } from '@tanstack/react-query'
import { ScrollText } from 'lucide-react'
import { memo, useContext, useEffect, useRef } from 'react'
import { api } from '../../api/index.ts'
import { useI18n } from '../../i18n/index.tsx'
import { OUTDATED } from '../../lib/lazy-chunks.ts'
import { useStable } from '../../lib/use-stable.ts'
import { Button } from '../../ui/button.tsx'
import { Markdown } from '../markdown/markdown.tsx'
import { isTemporary } from './fresh.ts'
import { InPlace } from './in-place.tsx'
import { TalkName } from './talk-name.ts'
import { type TurnActions, TurnView } from './turn-view.tsx'
import type { Conversation } from './use-conversation.ts'
import { useElsewhere } from './use-elsewhere.ts'
import { useJump } from './use-jump.ts'

interface TalkProps {
  readonly conversation: Pick<Conversation, 'turns' | 'stored' | 'hasNewer' | 'running' | 'found'>
  readonly ways: Conversation['ways']
  readonly actions: TurnActions
}

/** The turns of a conversation, oldest first. */
export const Talk = memo(({ conversation, ways, actions }: TalkProps) => {
  const { turns, stored, hasNewer, running, found } = conversation
  const { hasNextPage, fetchNextPage, isFetchingNextPage } = stored
  const { t } = useI18n()
  const last = hasNewer ? undefined : turns.at(-1)
  const session = useContext(TalkName) ?? ''
  const summary = useSummary(session)
  useHeld(session)
  useJump(found, turns, stored)
  const newest = stored.rows[0]?.created_at
  useElsewhere(session, newest, running || hasNewer || newest === undefined)
  const isIdle = !stored.isFetching && !stored.isError
  return (
    <>
      {hasNextPage && (
        <More
          label={t('studio.older')}
          isBusy={isFetchingNextPage}
          isIdle={isIdle}
          onWanted={() => void fetchNextPage(ONE_AT_A_TIME)}
        />
      )}
      {summary && !hasNextPage && <Summary text={summary} />}
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
      {hasNewer && (
        <More
          label={t('studio.newer')}
          isBusy={stored.isFetchingPreviousPage}
          isIdle={isIdle}
          onWanted={() => void stored.fetchPreviousPage(ONE_AT_A_TIME)}
        />
      )}
    </>
  )
})

/** What is being loaded is not given up for the page before or after it. */
const ONE_AT_A_TIME = { cancelRefetch: false }

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

/** The summary of turns that the model no longer reads verbatim; empty at first. */
function useSummary(session: string): string {
  const memory = useQuery({
    queryKey: ['memory', session],
    queryFn: () => api.sessions.history(session),
    enabled: !isTemporary(session),
  })
  return memory.data?.summary ?? ''
}

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

interface MoreProps {
  readonly label: string
  readonly isBusy: boolean
  /** Whether nothing is being loaded, and nothing could not be. */
  readonly isIdle: boolean
  readonly onWanted: () => void
}

/** Loads the turns that stand in its place when it comes into view. */
function More({ label, isBusy, isIdle, onWanted }: MoreProps) {
  const button = useRef<HTMLDivElement>(null)
  const want = useStable(onWanted)
  // Looks anew after each page, which may have left it in view.
  useEffect(() => {
    if (!button.current || !isIdle) return
    const seen = new IntersectionObserver(([entry]) => entry?.isIntersecting && want())
    seen.observe(button.current)
    return () => seen.disconnect()
  }, [isIdle, want])
  return (
    <div ref={button} className="text-center">
      <Button size="small" busy={isBusy} onClick={want}>
        {label}
      </Button>
    </div>
  )
}
