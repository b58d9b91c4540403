import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { talks } from '../../api/talks.ts'
import { reload } from '../../lib/reload.ts'
import { reloadNewest } from './use-stored.ts'

/** How soon a page that is looked at shows what was asked on another device. */
const POLL_MS = 5_000

/**
 * Looks whether the talk goes on elsewhere, but while this page reads an answer of it. Loads turns
 * that were stored after `newest`, the time of the last one here.
 */
export function useElsewhere(session: string, newest: string | undefined, isOff: boolean): void {
  const queries = useQueryClient()
  const { data } = useQuery({
    queryKey: ['pending', session],
    queryFn: () => talks.head(session),
    enabled: !isOff,
    retry: false,
    // What is shown has been asked for.
    refetchOnMount: false,
    refetchInterval: ({ state: { error } }) => !error && POLL_MS,
  })
  const last = isOff ? undefined : data?.last_at
  useEffect(() => {
    const isNewer = newest !== undefined && last !== undefined && last > newest
    // What this page has stored itself is on its way.
    if (!isNewer || queries.isFetching({ queryKey: ['transcript', session] }) > 0) return
    void reloadNewest(queries, session)
    void reload(queries, ['conversations'])
  }, [last, newest, session, queries])
}
