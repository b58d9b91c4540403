import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api } from '../../api/index.ts'

/** Turns of the first page, which is shown at once, and of older ones. */
const PAGE = 30
const OLDER = 100

/** What the server has stored of a session; older turns are loaded when they are asked for. */
export function useStored(session: string) {
  const query = useInfiniteQuery({
    queryKey: ['transcript', session],
    queryFn: ({ pageParam }) =>
      api.sessions.transcript(session, {
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

/** What the model still knows of turns that it no longer reads word for word; empty at first. */
export function useSummary(session: string): string {
  const memory = useQuery({
    queryKey: ['memory', session],
    queryFn: () => api.sessions.history(session),
  })
  return memory.data?.summary ?? ''
}
