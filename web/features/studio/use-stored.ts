import {
  type InfiniteData,
  type QueryClient,
  useInfiniteQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useMemo, useRef } from 'react'
import { api } from '../../api/index.ts'
import type { Transcript } from '../../api/types.ts'
import { reload } from '../../lib/reload.ts'
import { useToasts } from '../../lib/services.tsx'
import { useStable } from '../../lib/use-stable.ts'
import { isTemporary } from './fresh.ts'

/** Turns of the newest page, which is shown at once, and of any other, drawn at one go, too. */
const PAGE = 30
const OTHER = 20
/** Pages that are kept; those at the other end go, and come again when they are scrolled to. */
const PAGES_MAX = 10

const NOTHING: Transcript = { turns: [], next_before: null }

/** Pages that follow one another, newest first, each with the number that its turns are below. */
export type Pages = InfiniteData<Transcript, number | null>

/** The newest page is below nothing; the page around a turn has as many turns on both sides. */
const around = (turn: number | null) => (turn === null ? null : turn + OTHER / 2)

async function pageBelow(session: string, before: number | null): Promise<Transcript> {
  if (isTemporary(session)) return NOTHING
  const page =
    before === null ? NOTHING : await api.sessions.transcript(session, { before, limit: OTHER })
  // All below may be deleted by now.
  return page.turns.length > 0 ? page : api.sessions.transcript(session, { limit: PAGE })
}

/** The page that follows the newest loaded one; null where the talk ends. */
export function newer(
  { turns: [newest] }: Transcript,
  _: unknown,
  before: number | null,
): number | null {
  if (before === null || !newest || newest.seq < before - 1) return null
  return newest.seq + OTHER + 1
}

/** Turns of the pages, newest first. The newest page may overlap the one before it. */
export const rowsOf = (pages: readonly Transcript[]) =>
  pages.flatMap(({ turns }, at) => {
    const below = pages[at + 1]?.turns[0]?.seq ?? 0
    return turns.filter(({ seq }) => seq > below)
  })

/**
 * Some stored turns of a session that follow one another: at first the newest ones, or those around
 * `turn`; others are loaded on demand. A temporary session has none.
 */
export function useStored(session: string, turn: number | null = null) {
  const client = useQueryClient()
  const toasts = useToasts()
  const query = useInfiniteQuery({
    queryKey: ['transcript', session],
    queryFn: ({ pageParam }) => pageBelow(session, pageParam),
    initialPageParam: around(turn),
    getNextPageParam: ({ next_before }) => next_before,
    getPreviousPageParam: newer,
    maxPages: PAGES_MAX,
  })
  const { data } = query
  const rows = useMemo(() => rowsOf(data?.pages ?? []), [data])
  const asked = useRef({})
  /** Shows the turns around this one in place of all others; null: the newest ones. */
  const show = useStable(async (place: number | null) => {
    const mine = {}
    asked.current = mine
    try {
      const page = await pageBelow(session, around(place))
      // Another one was asked for meanwhile.
      if (asked.current === mine) await replace(client, session, page, around(place))
    } catch (error) {
      toasts.show('bad', error as Error)
    }
  })
  return { ...query, rows, show }
}

async function replace(client: QueryClient, session: string, page: Transcript, at: number | null) {
  const queryKey = ['transcript', session]
  const isLoading = client.isFetching({ queryKey }) > 0
  await client.cancelQueries({ queryKey })
  client.setQueryData<Pages>(queryKey, { pages: [page], pageParams: [at] })
  // What was being loaded may be newer.
  if (isLoading) await client.invalidateQueries({ queryKey })
}

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

/** Null when turns are missing between the newest ones and the loaded ones. */
export function joinNewest(shown: Pages, newest: Transcript): Pages | null {
  const from = newest.turns.at(-1)?.seq
  const last = shown.pages[0]?.turns[0]?.seq ?? 0
  if (from === undefined || from > last + 1) return null
  const pages = shown.pages.map((page, at) => {
    const kept = page.turns.filter(({ seq }) => seq < from)
    return { ...page, turns: at === 0 ? [...newest.turns, ...kept] : kept }
  })
  return { pages, pageParams: [null, ...shown.pageParams.slice(1)] }
}
