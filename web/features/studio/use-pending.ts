import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { ApiError } from '../../api/client.ts'
import { type Pending, talks } from '../../api/talks.ts'
import { askedOf } from './asked-of.ts'
import { useConversations } from './conversations.ts'
import { newTurn, type Turn } from './turn.ts'
import type { Wish } from './wish.ts'

const interruptedTurn = (
  { turn_id, text, partial, started_at, images, named }: Pending,
  wish: Wish | undefined,
): Turn => ({
  ...newTurn(`pending:${turn_id}`, { ...askedOf(text, images, named), wish }, 0),
  at: Date.parse(started_at),
  turnId: turn_id,
  reply: partial,
  state: 'failed',
  isInterrupted: true,
})

const MISSING = 404

/**
 * Goes on with the answers that were asked elsewhere, or before this page was loaded. Has the turns
 * that an end of the server has interrupted, whether the server knows no such talk, and its title,
 * which is undefined while it is asked for.
 */
export function usePending(session: string, isStored: boolean) {
  const { attach, wishOf } = useConversations()
  const { data, error, isLoading } = useQuery({
    queryKey: ['pending', session],
    queryFn: () => talks.head(session),
    enabled: isStored,
    retry: false,
    refetchOnWindowFocus: true,
  })
  useEffect(() => {
    for (const turn of data?.pending ?? []) if (turn.state === 'running') attach(session, turn)
  }, [data, session, attach])
  const interrupted = useMemo(
    () =>
      (data?.pending ?? [])
        .filter(({ state }) => state === 'interrupted')
        .map((one) => interruptedTurn(one, wishOf(one.turn_id))),
    [data, wishOf],
  )
  const isUnknown = isStored && error instanceof ApiError && error.status === MISSING
  return { interrupted, isUnknown, title: isLoading ? undefined : (data?.title ?? null) }
}
