import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { type Pending, talks } from '../../api/talks.ts'
import { useConversations } from './conversations.ts'
import { askedOf, newTurn, type Turn } from './turn.ts'

const interruptedTurn = ({ turn_id, text, partial, started_at, images }: Pending): Turn => ({
  ...newTurn(`pending:${turn_id}`, askedOf(text, images), 0),
  at: Date.parse(started_at),
  turnId: turn_id,
  reply: partial,
  state: 'failed',
  isInterrupted: true,
})

/**
 * Goes on with the answers that were asked elsewhere, or before this page was loaded. Resolves to
 * the turns that an end of the server has interrupted.
 */
export function usePending(session: string, isStored: boolean): readonly Turn[] {
  const { attach } = useConversations()
  const { data } = useQuery({
    queryKey: ['pending', session],
    queryFn: () => talks.pending(session),
    enabled: isStored,
    retry: false,
    refetchOnWindowFocus: true,
  })
  useEffect(() => {
    for (const turn of data ?? []) if (turn.state === 'running') attach(session, turn)
  }, [data, session, attach])
  return useMemo(
    () => (data ?? []).filter(({ state }) => state === 'interrupted').map(interruptedTurn),
    [data],
  )
}
