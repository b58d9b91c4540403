import { useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useRef } from 'react'
import { api } from '../../api/index.ts'
import type { Turn } from './turn.ts'
import type { useChosen } from './use-chosen.ts'
import { useTurns } from './use-turns.ts'

/** The turns of the chosen session, before and during this visit, and the function to send. */
export function useConversation({ chosen, choose, linked }: ReturnType<typeof useChosen>) {
  const turns = useTurns(chosen.session)
  // Turns of this visit are shown from their streams.
  const past = useQuery({
    queryKey: ['history', chosen.session],
    queryFn: () => api.sessions.history(chosen.session),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  const begun = turns.turns.length > 0
  // The first turn puts the session into the page URL.
  useEffect(() => {
    if (begun && !linked) choose({})
  })
  const say = (text: string, images: readonly string[] = []) =>
    void turns.send({
      text,
      images,
      session_id: chosen.session,
      app_id: chosen.app || null,
      kb: chosen.kb,
    })
  // One stable function for all turns, so that finished turns do not render again.
  const latest = useRef(say)
  latest.current = say
  const again = useCallback((turn: Turn) => latest.current(turn.text, turn.images), [])
  return {
    turns,
    past: past.data,
    running: turns.turns.some(({ state }) => state === 'running'),
    empty: !begun && past.data?.count === 0 && past.data.summary === '',
    say,
    again,
  }
}
