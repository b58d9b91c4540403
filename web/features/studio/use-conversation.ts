import { useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useRef } from 'react'
import { api } from '../../api/index.ts'
import { useAnswering, useConversations, useTurns } from './conversations.ts'
import type { Turn } from './turn.ts'
import type { useChosen } from './use-chosen.ts'

/** The turns of the chosen session, before and during this visit, and the function to send. */
export function useConversation({ chosen, choose, linked }: ReturnType<typeof useChosen>) {
  const conversations = useConversations()
  const { session, app } = chosen
  const all = useTurns(session)
  const running = useAnswering(session)
  const past = useQuery({
    queryKey: ['history', session],
    queryFn: async () => {
      const readAt = performance.now()
      return { readAt, ...(await api.sessions.history(session)) }
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  // What had ended when the memory was read is shown from there.
  const readAt = past.data?.readAt ?? 0
  const turns = all.filter(({ state, startedAt, totalMs }) => {
    return state !== 'done' || totalMs === null || startedAt + totalMs > readAt
  })
  const begun = turns.length > 0
  // The first turn puts the session into the page URL.
  useEffect(() => {
    if (begun && !linked) choose({})
  })
  useEffect(() => {
    if (linked) conversations.visit({ session, app })
  }, [conversations, linked, session, app])
  const say = (text: string, images: readonly string[] = []) => {
    const { kb } = chosen
    void conversations.send({ text, images, session_id: session, app_id: app || null, kb })
  }
  // One stable function for all turns, so that finished turns do not render again.
  const latest = useRef(say)
  latest.current = say
  const again = useCallback((turn: Turn) => latest.current(turn.text, turn.images), [])
  return {
    turns,
    past: past.data,
    running,
    empty: !begun && past.data?.count === 0 && past.data.summary === '',
    say,
    again,
    stop: () => conversations.stop(session),
  }
}
