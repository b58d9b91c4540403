import {
  type InfiniteData,
  type QueryClient,
  useInfiniteQuery,
  useQuery,
} from '@tanstack/react-query'
import { useMemo } from 'react'
import { api } from '../../api/index.ts'
import type { Transcript } from '../../api/types.ts'
import { reload } from '../../lib/reload.ts'
import { isTemporary } from './fresh.ts'

/** Turns of the first page, which is shown at once, and of older ones, drawn at one go, too. */
const PAGE = 30
const OLDER = 40

const NOTHING: Transcript = { turns: [], next_before: null }

/** The stored turns of a session; older ones are loaded on demand. A temporary one has none. */
export function useStored(session: string) {
  const query = useInfiniteQuery({
    queryKey: ['transcript', session],
    queryFn: ({ pageParam }) =>
      isTemporary(session)
        ? NOTHING
        : api.sessions.transcript(session, {
            limit: pageParam === null ? PAGE : OLDER,
            ...(pageParam === null ? {} : { before: pageParam }),
          }),
    initialPageParam: null as number | null,
    getNextPageParam: ({ next_before }) => next_before,
  })
  const { data } = query
  const rows = useMemo(() => data?.pages.flatMap(({ turns }) => turns) ?? [], [data])
  return { ...query, rows }
}

type Pages = InfiniteData<Transcript, number | null>

/** Replaces the newest turns of a session in the cache; older ones have not changed. */
export async function reloadNewest(client: QueryClient, session: string): Promise<void> {
  const queryKey = ['transcript', session]
  const isLong = (client.getQueryData<Pages>(queryKey)?.pages.length ?? 0) > 1
  if (!isLong) return reload(client, queryKey)
  await client.cancelQueries({ queryKey })
  const newest = await api.sessions.transcript(session, { limit: PAGE }).catch(() => null)
  const shown = client.getQueryData<Pages>(queryKey)
  const joined = shown && newest && joinNewest(shown, newest)
  if (joined) client.setQueryData<Pages>(queryKey, joined)
  else await reload(client, queryKey)
}

/** Shows a thumb that was given, without a request. */
export const showRating = (client: QueryClient, session: string, seq: number, rating: number) =>
  void client.setQueryData<Pages>(['transcript', session], (shown) => {
    if (!shown) return shown
    const pages = shown.pages.map((page) => ({
      ...page,
      turns: page.turns.map((turn) => (turn.seq === seq ? { ...turn, rating } : turn)),
    }))
    return { ...shown, pages }
  })

/** Null when turns are missing between the newest ones and the loaded ones. */
export function joinNewest(shown: Pages, newest: Transcript): Pages | null {
  const from = newest.turns.at(-1)?.seq
  const last = shown.pages[0]?.turns[0]?.seq ?? 0
  if (from === undefined || from > last + 1) return null
  const pages = shown.pages.map((page, at) => {
    const kept = page.turns.filter(({ seq }) => seq < from)
    return { ...page, turns: at === 0 ? [...newest.turns, ...kept] : kept }
  })
  return { ...shown, pages }
}

/** The summary of turns that the model no longer reads verbatim; empty at first. */
export function useSummary(session: string): string {
  const memory = useQuery({
    queryKey: ['memory', session],
    queryFn: () => api.sessions.history(session),
    enabled: !isTemporary(session),
  })
  return memory.data?.summary ?? ''
}
