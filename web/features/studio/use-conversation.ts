import { useEffect, useMemo, useState } from 'react'
import { useToasts } from '../../lib/services.tsx'
import { useAnswering, useConversations, useLine, useTurns } from './conversations.ts'
import { isTemporary } from './fresh.ts'
import { createThread } from './thread.ts'
import { useAsking } from './use-asking.ts'
import type { useChosen } from './use-chosen.ts'
import { usePending } from './use-pending.ts'
import type { Setup } from './use-setup.ts'
import { useStored } from './use-stored.ts'
import { useVersions } from './use-versions.ts'

type Choice = Pick<ReturnType<typeof useChosen>, 'chosen' | 'turn' | 'choose' | 'linked'>

/** What waits, and whether the server cannot know this talk yet, and is not asked for it. */
function useUnsent(session: string, running: boolean) {
  const { drafts } = useConversations()
  const { waiting, isHeld } = useLine(session)
  const isNew = running || (waiting.length > 0 && !isHeld) || drafts.isFresh(session)
  return { waiting, isNew }
}

/** The turns of the chosen session, and what can be done with them. */
export function useConversation(
  { chosen, turn, choose, linked }: Choice,
  { asked }: Pick<Setup, 'asked'>,
) {
  const conversations = useConversations()
  const toasts = useToasts()
  const { session, app } = chosen
  const live = useTurns(session)
  const running = useAnswering(session)
  const stored = useStored(session, turn)
  const { hasNextPage: hasOlder, hasPreviousPage: hasNewer } = stored
  const { waiting, isNew } = useUnsent(session, running)
  const isStored = linked && !isTemporary(session) && (stored.rows.length > 0 || !isNew)
  const { interrupted, isUnknown, title } = usePending(session, isStored)
  const ways = useVersions(session, stored.rows.length > 0)
  const [thread] = useState(createThread)
  // Of a talk that was deleted elsewhere, what was never stored is left.
  const isGone = isUnknown && stored.rows.length === 0
  const told = useMemo(
    () =>
      thread(stored.rows, live, { hasOlder, hasNewer }).filter(
        ({ seq }) => !isGone || seq === null,
      ),
    [thread, stored.rows, live, hasOlder, hasNewer, isGone],
  )
  const turns = useMemo(
    () => (running || hasNewer ? told : [...told, ...interrupted]),
    [told, running, hasNewer, interrupted],
  )
  const begun = live.length > 0
  const named = title === undefined && !begun ? '' : title
  useEffect(() => {
    if (linked) conversations.visit({ session, app })
  }, [conversations, linked, session, app])
  const asking = useAsking({ chosen, choose, linked, asked })
  return {
    turns,
    /** Turns of this tab, also while others are shown. */
    live,
    /** Whether the talk goes on after the turns that are shown. */
    hasNewer,
    /** Null without a turn; empty while it is asked for. */
    title: named ?? turns[0]?.text ?? null,
    /** The number of the turn that was looked for; null without one. */
    found: turn,
    stored,
    /** Whether this person has no such talk. */
    isMissing: isUnknown && turns.length + waiting.length === 0,
    /** Whether it is not read yet, or could not be. */
    isAwaited: stored.data === undefined && turns.length === 0 && !isUnknown,
    isEmpty: !begun && stored.data !== undefined && turns.length === 0,
    running,
    ways,
    ...asking,
    stop: () => void conversations.stop(session).catch((error) => toasts.show('bad', error)),
  }
}

export type Conversation = ReturnType<typeof useConversation>
