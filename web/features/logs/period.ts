import { LOG_RETENTION_DAYS, LOGS_LIMIT_MAX } from '../../../src/core/limits/contract.ts'
import type { LogRow, Logs } from '../../api/types.ts'
import { errorClasses, latencySeries, type Point } from './series.ts'

type Query = Readonly<Record<string, string>>
export type AskLogs = (query: Query) => Promise<Logs>

const KEPT_HOURS = LOG_RETENTION_DAYS * 24
const HOUR_MS = 3_600_000
const POINTS = 24
/** Parts of the first, coarse request. It finds the oldest rows, where the charts begin. */
const PARTS = 7

export interface Charts {
  readonly points: readonly Point[]
  readonly classes: readonly (readonly [name: string, count: number])[]
}

/** The chart data when one answer holds all rows. */
export const chartsOfRows = (rows: readonly LogRow[]): Charts => ({
  points: latencySeries(rows, POINTS),
  classes: errorClasses(rows),
})

/**
 * The chart data of a period with more rows than one answer holds, from the server's summaries of
 * parts of the period. `filters` are those of the page URL.
 */
export async function chartsOfPeriod(ask: AskLogs, filters: Query, now: number): Promise<Charts> {
  const { hours = String(KEPT_HOURS), ...rest } = filters
  const since = now - Number(hours) * HOUR_MS
  const [points, classes] = await Promise.all([
    pointsOf(ask, rest, since, now),
    classesOf(ask, { ...rest, since: new Date(since).toISOString() }),
  ])
  return { points, classes }
}

async function pointsOf(ask: AskLogs, filters: Query, since: number, now: number) {
  const parts = await summaries(ask, filters, since, now, PARTS)
  const begin = parts.find(({ summary }) => summary.count > 0)?.since ?? since
  const spans = await summaries(ask, filters, begin, now, POINTS)
  return spans.flatMap(({ since: from, until, summary: { p50_ms: p50, p95_ms: p95 } }) =>
    p50 === null || p95 === null ? [] : [{ at: (from + until) / 2, p50, p95 }],
  )
}

/** Equal parts of a period; both ends of each part are inclusive. */
function summaries(ask: AskLogs, filters: Query, since: number, until: number, parts: number) {
  const edge = (part: number) => Math.round(since + ((until + 1 - since) * part) / parts)
  const iso = (at: number) => new Date(at).toISOString()
  return Promise.all(
    Array.from({ length: parts }, async (_, part) => {
      const span = { since: edge(part), until: edge(part + 1) - 1 }
      const query = { ...filters, since: iso(span.since), until: iso(span.until), limit: '1' }
      return { ...span, summary: (await ask(query)).summary }
    }),
  )
}

async function classesOf(ask: AskLogs, filters: Query) {
  const statuses = filters.status ? [filters.status] : ['4xx', '5xx']
  const limit = String(LOGS_LIMIT_MAX)
  const answers = await Promise.all(statuses.map((status) => ask({ ...filters, status, limit })))
  const seen = errorClasses(answers.flatMap(({ logs }) => logs))
  if (answers.every(({ logs, summary }) => logs.length >= summary.count)) return seen
  const counted = await Promise.all(
    seen.map(async ([name]) => {
      const { summary } = await ask({ ...filters, error_class: name, limit: '1' })
      return [name, summary.count] as const
    }),
  )
  return counted.sort(([, a], [, b]) => b - a)
}
