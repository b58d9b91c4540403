import { useEffect, useMemo, useState } from 'react'
import { useStable } from '../../lib/use-stable.ts'
import { useAnswering, useConversations, useTurns } from './conversations.ts'
import { createThread } from './thread.ts'
import type { Question, Turn } from './turn.ts'
import type { useChosen } from './use-chosen.ts'
import { useJump } from './use-jump.ts'
import type { Setup } from './use-setup.ts'
import { useStored, useSummary } from './use-stored.ts'

/** The turns of the chosen session, and what can be done with them. */
export function useConversation(
  { chosen, turn, choose, linked }: ReturnType<typeof useChosen>,
  { asked }: Pick<Setup, 'asked'>,
) {
  const conversations = useConversations()
  const { session, app } = chosen
  const live = useTurns(session)
  const running = useAnswering(session)
  const stored = useStored(session)
  const summary = useSummary(session)
  const [thread] = useState(createThread)
  const turns = useMemo(() => thread(stored.rows, live), [thread, stored.rows, live])
  useJump(turn, turns, stored)
  const begun = live.length > 0
  useEffect(() => {
    if (linked) conversations.visit({ session, app })
  }, [conversations, linked, session, app])
  const say = (question: Question) => {
    const { text, images, replaces = null } = question
    const place = { session_id: session, app_id: app || null }
    const request = { text, images, ...place, ...asked, show_thinking: true }
    // The first turn puts the session into the page URL.
    if (!linked) choose({})
    return conversations.send(request, replaces)
  }
  /** The question again, or another one in its place. */
  const replace = (turn: Turn, text: string) => {
    const { images, state, replaces } = turn
    if (state === 'done') return void say({ text, images, replaces: turn })
    conversations.drop(session, turn.id)
    void say({ text, images, replaces })
  }
  return {
    turns,
    /** The number of the turn that was looked for; null without one. */
    found: turn,
    /** Null until the first page is there. */
    older: stored,
    summary,
    isEmpty: !begun && stored.data !== undefined && turns.length === 0,
    running,
    say,
    // One function for all turns, so that finished turns do not render again.
    replace: useStable(replace),
    stop: () => conversations.stop(session),
  }
}

export type Conversation = ReturnType<typeof useConversation>
