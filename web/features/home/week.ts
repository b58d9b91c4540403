import type { Logs } from '../../api/types.ts'

type Ask = (query: Readonly<Record<string, string>>) => Promise<Logs>

export interface Day {
  /** Midnight of the reader. */
  readonly from: Date
  readonly count: number
  readonly errors: number
}

const DAYS = 7

/** The last days of the reader, today last: their midnights may be 23 or 25 hours apart. */
const midnights = (now: Date): Date[] =>
  Array.from(
    { length: DAYS },
    (_, place) => new Date(now.getFullYear(), now.getMonth(), now.getDate() - DAYS + 1 + place),
  )

/** Requests of each day, by the request log, so that the figures are those of the log page. */
export const requestsByDay = (ask: Ask, now: Date): Promise<Day[]> =>
  Promise.all(
    midnights(now).map(async (from, place, all) => {
      const next = all[place + 1]
      const until = next ? { until: new Date(+next - 1).toISOString() } : {}
      const { summary } = await ask({ since: from.toISOString(), ...until, limit: '1' })
      return { from, count: summary.count, errors: summary.err_count }
    }),
  )
