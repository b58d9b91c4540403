import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { LOGS_LIMIT_MAX } from '../../../src/core/limits/contract.ts'
import { serverNow } from '../../api/client.ts'
import { api } from '../../api/index.ts'
import type { LogRow, Logs } from '../../api/types.ts'
import type { Filters } from './filters.tsx'

const HOUR_MS = 3_600_000
/** The live view: rows, and how often they are loaded. */
const LIVE_ROWS = 100
const LIVE_MS = 3_000

/** The page URL holds a number of hours; the server takes a start time. */
function queryOf({ hours, ...filters }: Filters, until: string | null): Record<string, string> {
  const start = serverNow() - Number(hours) * HOUR_MS
  return {
    ...filters,
    ...(hours ? { since: new Date(start).toISOString() } : {}),
    ...(until === null ? {} : { until }),
  }
}

/** A page ends in the same millisecond as the next one begins, so their ends overlap. */
export function joined(pages: readonly Logs[]): LogRow[] {
  const rows = pages.flatMap(({ logs }) => logs)
  return [...new Map(rows.map((row) => [row.id, row])).values()]
}

/** The rows of the log, newest first, page by page; live, the newest ones as they come. */
export function useRows(filters: Filters, live: boolean) {
  const limit = String(live ? LIVE_ROWS : LOGS_LIMIT_MAX)
  return useInfiniteQuery({
    queryKey: ['logs', filters, live],
    queryFn: ({ pageParam }) => api.logs({ ...queryOf(filters, pageParam), limit }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ logs, summary }) =>
      summary.count > logs.length ? logs.at(-1)?.ts : undefined,
    placeholderData: keepPreviousData,
    refetchInterval: live ? LIVE_MS : false,
  })
}
