import { DAY_MS } from '../../core/clock.ts'
import { createHistogram, type Histogram } from './histogram.ts'
import type { LogFilter } from './model.ts'
import type { LogQuery } from './query.ts'
import { isByStatus, type LogRow, type LogStore, type LogTimes } from './store.ts'

/** Rows of one statement, a few milliseconds; then searches that wait get their turn. */
const SLICE_ROWS_MAX = 10_000

type StoredRow = LogRow & LogTimes

const isEveryStatus = ({ statusFrom, statusTo }: LogFilter) => statusFrom === 0 && statusTo === 999

/** Newest first, as the store orders rows. */
const byTime = (a: StoredRow, b: StoredRow) => b.ts - a.ts || (a.id < b.id ? 1 : -1)

/** Reads the rows of a query and counts all that match it. */
export function createLogReader(store: LogStore, sliceRowsMax = SLICE_ROWS_MAX) {
  /**
   * Reads slice by slice, newest first, so that a million rows delay no other tenant. `limit` is
   * the number of rows that are wanted besides their counts.
   */
  async function readRows(
    tenantId: string,
    { filter, limit }: LogQuery,
    histogram: Histogram,
    signal?: AbortSignal,
  ) {
    const rows: StoredRow[] = []
    for (let until = filter.until; until >= filter.since; ) {
      signal?.throwIfAborted()
      const start = await store.sliceStart(tenantId, { ...filter, until }, sliceRowsMax)
      const slice = { ...filter, since: start ?? filter.since, until }
      if (rows.length < limit) {
        rows.push(...(await store.rows(tenantId, slice, limit - rows.length)))
      }
      histogram.add(await store.latencies(tenantId, slice))
      if (start === null) break
      until = start - 1
    }
    return rows
  }

  /** The newest rows of a filter by status and time alone. */
  async function newest(tenantId: string, { filter, limit }: LogQuery): Promise<StoredRow[]> {
    const { statusFrom, statusTo } = filter
    if (isEveryStatus(filter)) return store.rows(tenantId, filter, limit)
    const isOne = statusFrom === statusTo
    const statuses = isOne ? [statusFrom] : await store.statuses(tenantId, filter)
    const rows: StoredRow[] = []
    for (const status of statuses) {
      const one = { ...filter, statusFrom: status, statusTo: status }
      rows.push(...(await store.rows(tenantId, one, limit)))
    }
    return rows.sort(byTime).slice(0, limit)
  }

  /** Counts what matches a filter by status and time: of whole days by what is kept of them. */
  async function count(tenantId: string, filter: LogFilter, signal?: AbortSignal) {
    if (filter.since <= 0 && filter.until === Number.MAX_SAFE_INTEGER) {
      return await store.summary(tenantId, filter)
    }
    const histogram = createHistogram()
    const from = Math.ceil(filter.since / DAY_MS)
    const to = Math.floor((filter.until + 1) / DAY_MS) - 1
    const part = (since: number, until: number) => ({
      filter: {
        ...filter,
        since: Math.max(since, filter.since),
        until: Math.min(until, filter.until),
      },
      limit: 0,
    })
    if (from > to) {
      await readRows(tenantId, part(filter.since, filter.until), histogram, signal)
      return histogram.summary()
    }
    histogram.add(await store.dayLatencies(tenantId, from, to, filter))
    await readRows(tenantId, part(filter.since, from * DAY_MS - 1), histogram, signal)
    await readRows(tenantId, part((to + 1) * DAY_MS, filter.until), histogram, signal)
    return histogram.summary()
  }

  return {
    async read(tenantId: string, query: LogQuery, signal?: AbortSignal) {
      if (!isByStatus(query.filter)) {
        const histogram = createHistogram()
        const rows = await readRows(tenantId, query, histogram, signal)
        return { rows, summary: histogram.summary() }
      }
      const rows = await newest(tenantId, query)
      return { rows, summary: await count(tenantId, query.filter, signal) }
    },
  }
}
