import { DAY_MS } from '../../core/clock.ts'
import { type Db, joined, locked, type Reader, type Statement, sql } from '../../storage/db.ts'
import type { LogFilter, LogsResponse } from './model.ts'

/** One answered request, metadata only. `ts` is epoch ms. */
export interface LogRow {
  readonly id: string
  readonly tenantId: string
  readonly ts: number
  readonly appId: string | null
  readonly deviceId: string | null
  readonly endpoint: string
  readonly status: number
  readonly latencyMs: number | null
  readonly sessionId: string | null
  readonly textChars: number | null
  readonly errorClass: string | null
  readonly channel: string | null
  readonly keyId: string | null
}

/** When a stream had its first word and its end, in milliseconds from the request. */
export interface LogTimes {
  readonly firstMs: number | null
  readonly totalMs: number | null
}

/** A row that waits to be written; a stream that ends before that sets its times here. */
export interface WaitingRow extends LogRow {
  firstMs: number | null
  totalMs: number | null
  /** Whether its statement was built: later times need a `RowEnd`. */
  isTaken: boolean
}

/** The times of a row whose statement was built before they were known. */
export interface RowEnd extends LogTimes {
  readonly ended: Pick<LogRow, 'tenantId' | 'ts' | 'id'>
}

const setTimes = ({ ended, firstMs, totalMs }: RowEnd): Statement => sql`
  UPDATE request_log SET first_ms = ${firstMs}, total_ms = ${totalMs}
  WHERE tenant_id = ${ended.tenantId} AND ts = ${ended.ts} AND id = ${ended.id}`

export type LogSummary = LogsResponse['summary']

/** The number of rows with one latency; null for rows without a measured one. */
export interface LatencyCount {
  readonly latencyMs: number | null
  readonly count: number
  readonly errors: number
}

/** A row whose first answer was lost is there already. */
const insert = (row: LogRow & LogTimes): Statement => sql`
  INSERT INTO request_log (id, tenant_id, ts, app_id, device_id, endpoint, status, latency_ms,
    session_id, text_chars, error_class, channel, key_id, first_ms, total_ms)
  VALUES (${row.id}, ${row.tenantId}, ${row.ts}, ${row.appId}, ${row.deviceId}, ${row.endpoint},
    ${row.status}, ${row.latencyMs}, ${row.sessionId}, ${row.textChars}, ${row.errorClass},
    ${row.channel}, ${row.keyId}, ${row.firstMs}, ${row.totalMs})
  ON CONFLICT (tenant_id, ts, id) DO NOTHING`

/** In place of a day: all of them together. */
const ALL_DAYS = -1

/** In place of a latency that was not measured. */
const NOT_MEASURED = -1

/** Counts the rows that are not stored yet, by day and for all days. */
function count(rows: readonly WaitingRow[]): Statement {
  const entries = rows.flatMap(({ tenantId, ts, id, status, latencyMs }) =>
    [Math.floor(ts / DAY_MS), ALL_DAYS].map((day) => [
      ...[tenantId, ts, id, day, status, latencyMs ?? NOT_MEASURED],
    ]),
  )
  return locked('request_log_count')`
    INSERT INTO request_log_count AS counted (tenant_id, day, status, latency_ms, count)
    SELECT e.value ->> 0, CAST(e.value ->> 3 AS BIGINT), CAST(e.value ->> 4 AS BIGINT),
      CAST(e.value ->> 5 AS BIGINT), count(*)
    FROM json_each(${JSON.stringify(entries)}) e
    WHERE NOT EXISTS (SELECT 1 FROM request_log l WHERE l.tenant_id = e.value ->> 0
      AND l.ts = CAST(e.value ->> 1 AS BIGINT) AND l.id = e.value ->> 2)
    GROUP BY 1, 2, 3, 4
    ON CONFLICT (tenant_id, day, status, latency_ms)
      DO UPDATE SET count = counted.count + excluded.count`
}

/** Counts all rows that are stored, where none are counted. */
// No lock: nobody else writes while a box is copied.
export const countAll: Statement = {
  sql: `INSERT INTO request_log_count (tenant_id, day, status, latency_ms, count)
    SELECT tenant_id, CAST(d.value ->> 0 AS BIGINT) * (ts / ${DAY_MS} + 1) - 1, status,
      coalesce(latency_ms, ${NOT_MEASURED}), count(*)
    FROM request_log CROSS JOIN json_each(?) d GROUP BY 1, 2, 3, 4`,
  args: ['[[0],[1]]'],
}

function statementOf(row: WaitingRow | RowEnd): Statement {
  if ('ended' in row) return setTimes(row)
  row.isTaken = true
  return insert(row)
}

/** Which index leads to the rows of a filter. */
type Way = 'time' | 'session' | 'status'

/** The rows to look at, by what their index holds. */
function entries(tenantId: string, filter: LogFilter, way: Way): Statement {
  const { since, until, sessionId, statusFrom } = filter
  const within = sql`tenant_id = ${tenantId} AND ts BETWEEN ${since} AND ${until}`
  if (way === 'session') return joined(within, sql`AND session_id = ${sessionId}`)
  return way === 'status' ? joined(within, sql`AND status = ${statusFrom}`) : within
}

/** A query with a limit is planned apart from the one around it. */
const NO_LIMIT = 2_000_000_000

/**
 * The FROM and WHERE clauses of a filter. Only a query of nothing but the columns of an index makes
 * SQLite, which knows no statistics here, choose that index, and only as long as its order is asked
 * for, too; the rows are then read by their keys. A unary plus keeps it from choosing one for the
 * rest.
 */
function matching(tenantId: string, filter: LogFilter, way: Way, entriesMax = NO_LIMIT): Statement {
  const found = entries(tenantId, filter, way)
  if (way === 'time') return joined(sql`FROM request_log l WHERE`, found, rest(filter))
  return joined(
    sql`FROM (SELECT ts AS found_ts, id AS found_id FROM request_log WHERE`,
    found,
    sql`ORDER BY ts DESC, id DESC LIMIT ${entriesMax}) AS found CROSS JOIN request_log l
      WHERE l.tenant_id = ${tenantId} AND l.ts = found_ts AND l.id = found_id`,
    rest(filter),
  )
}

/** What of a filter no index finds. */
const rest = (filter: LogFilter): Statement => sql`
  AND +l.status BETWEEN ${filter.statusFrom} AND ${filter.statusTo}
  AND (CAST(${filter.endpoint} AS TEXT) IS NULL OR l.endpoint = ${filter.endpoint})
  AND (CAST(${filter.appId} AS TEXT) IS NULL OR l.app_id = ${filter.appId})
  AND (CAST(${filter.deviceId} AS TEXT) IS NULL OR l.device_id = ${filter.deviceId})
  AND (CAST(${filter.keyId} AS TEXT) IS NULL OR l.key_id = ${filter.keyId})
  AND (CAST(${filter.errorClass} AS TEXT) IS NULL OR l.error_class = ${filter.errorClass})`

/** Whether the filter names nothing but statuses and times. */
export function isByStatus(filter: LogFilter): boolean {
  const { endpoint, appId, deviceId, keyId, sessionId, errorClass } = filter
  return [endpoint, appId, deviceId, keyId, sessionId, errorClass].every((one) => one === null)
}

/** Rows of a status lie far apart: by time they are read faster when most of them are wanted. */
const wayOfAll = ({ sessionId }: LogFilter): Way => (sessionId === null ? 'time' : 'session')
const wayOfFirst = (filter: LogFilter): Way =>
  isByStatus(filter) && filter.statusFrom === filter.statusTo ? 'status' : wayOfAll(filter)

/** Counts from numbers: a latency, how many rows have it, how many of them failed, and so on. */
function latencyCounts(numbers: readonly number[]): LatencyCount[] {
  const counts: LatencyCount[] = []
  for (let at = 0; at < numbers.length; at += 3) {
    const latency = numbers[at] ?? NOT_MEASURED
    const latencyMs = latency === NOT_MEASURED ? null : latency
    counts.push({ latencyMs, count: numbers[at + 1] ?? 0, errors: numbers[at + 2] ?? 0 })
  }
  return counts
}

/** `reader` makes the reads that may scan a million rows. */
export function createLogStore(db: Db, reader: Reader) {
  return {
    async write(rows: readonly (WaitingRow | RowEnd)[]): Promise<void> {
      const added = rows.filter((row) => 'id' in row)
      const statements = rows.map(statementOf)
      await db.batch(added.length > 0 ? [count(added), ...statements] : statements)
    },

    /**
     * The start of a slice of about `rowsMax` rows that ends at `filter.until`; null when all rows
     * since `filter.since` fit.
     */
    async sliceStart(tenantId: string, filter: LogFilter, rowsMax: number) {
      const found = entries(tenantId, filter, wayOfAll(filter))
      const [row] = await reader.all<{ ts: number }>(
        tenantId,
        joined(
          sql`SELECT ts FROM request_log WHERE`,
          found,
          sql`ORDER BY ts DESC LIMIT 1 OFFSET ${rowsMax}`,
        ),
      )
      return row ? Math.min(row.ts + 1, filter.until) : null
    },

    /** As `latencies`, of whole days (since the epoch); of a filter only its statuses count. */
    async dayLatencies(
      tenantId: string,
      from: number,
      to: number,
      filter: LogFilter,
    ): Promise<LatencyCount[]> {
      // One text: ten thousand rows would hold the event loop for longer than it takes to read it.
      const [row] = await reader.all<{ counts: string | null }>(
        tenantId,
        sql`
        SELECT string_agg(latency || ',' || number || ',' || errors, ',') AS counts FROM (
          SELECT CAST(latency_ms AS TEXT) AS latency, CAST(sum(count) AS TEXT) AS number,
            CAST(coalesce(sum(count) FILTER (WHERE status >= 400), 0) AS TEXT) AS errors
          FROM request_log_count
          WHERE tenant_id = ${tenantId} AND day BETWEEN ${from} AND ${to}
            AND status BETWEEN ${filter.statusFrom} AND ${filter.statusTo}
          GROUP BY latency_ms) AS counted`,
      )
      return latencyCounts(JSON.parse(`[${row?.counts ?? ''}]`))
    },

    /**
     * The summary of all days, of which the statuses of the filter count. The database tells the
     * percentiles, as `createHistogram` does: thousands of latencies would hold the event loop.
     */
    async summary(tenantId: string, filter: LogFilter): Promise<LogSummary> {
      const [row] = await reader.all<LogSummary>(
        tenantId,
        sql`
        WITH whole AS (
          SELECT coalesce(sum(count), 0) AS count,
            coalesce(sum(count) FILTER (WHERE status >= 400), 0) AS err_count,
            CAST(sum(count) FILTER (WHERE latency_ms <> ${NOT_MEASURED}) AS BIGINT) - 1 AS last
          FROM request_log_count
          WHERE tenant_id = ${tenantId} AND day = ${ALL_DAYS}
            AND status BETWEEN ${filter.statusFrom} AND ${filter.statusTo}),
        running AS (
          SELECT latency_ms, sum(sum(count)) OVER (ORDER BY latency_ms) AS up_to
          FROM request_log_count
          WHERE tenant_id = ${tenantId} AND day = ${ALL_DAYS}
            AND status BETWEEN ${filter.statusFrom} AND ${filter.statusTo}
            AND latency_ms <> ${NOT_MEASURED}
          GROUP BY latency_ms)
        SELECT max(count) AS count, max(err_count) AS err_count,
          min(latency_ms) FILTER (WHERE up_to > last * 50 / 100) AS p50_ms,
          min(latency_ms) FILTER (WHERE up_to > last * 95 / 100) AS p95_ms
        FROM whole LEFT JOIN running ON TRUE`,
      )
      return row ?? { count: 0, err_count: 0, p50_ms: null, p95_ms: null }
    },

    /** The statuses of the filter that any row has. */
    async statuses(tenantId: string, filter: LogFilter): Promise<number[]> {
      const rows = await reader.all<{ status: number }>(
        tenantId,
        sql`
        SELECT DISTINCT status FROM request_log_count
        WHERE tenant_id = ${tenantId}
          AND day = ${ALL_DAYS}
          AND status BETWEEN ${filter.statusFrom} AND ${filter.statusTo}`,
      )
      return rows.map(({ status }) => status)
    },

    /** Newest first. */
    rows(tenantId: string, filter: LogFilter, limit: number): Promise<(LogRow & LogTimes)[]> {
      const way = wayOfFirst(filter)
      const [ts, id] = way === 'time' ? ['l.ts', 'l.id'] : ['found_ts', 'found_id']
      const columns = `SELECT l.id, l.tenant_id AS "tenantId", l.ts, app_id AS "appId",
        device_id AS "deviceId", endpoint, status, latency_ms AS "latencyMs",
        session_id AS "sessionId", text_chars AS "textChars", error_class AS "errorClass",
        channel, key_id AS "keyId", first_ms AS "firstMs", total_ms AS "totalMs"`
      const found = matching(tenantId, filter, way, way === 'status' ? limit : NO_LIMIT)
      return reader.all<LogRow & LogTimes>(
        tenantId,
        joined({ sql: columns, args: [] }, found, {
          sql: `ORDER BY ${ts} DESC, ${id} DESC LIMIT ?`,
          args: [limit],
        }),
      )
    },

    /** Matching rows and failures, counted by latency. */
    latencies(tenantId: string, filter: LogFilter): Promise<LatencyCount[]> {
      return reader.all<LatencyCount>(
        tenantId,
        joined(
          sql`SELECT latency_ms AS "latencyMs", count(*) AS count,
            count(*) FILTER (WHERE status >= 400) AS errors`,
          matching(tenantId, filter, wayOfAll(filter)),
          sql`GROUP BY latency_ms`,
        ),
      )
    },

    /** Deletes up to 2,000 rows of all tenants older than `before`; resolves with their number. */
    async prune(before: number): Promise<number> {
      // A trigger takes the rows from their counts, in another order than `count` changes them.
      const { changes } = await db.run(locked('request_log_count')`
        DELETE FROM request_log WHERE (tenant_id, ts, id) IN (
          SELECT l.tenant_id, l.ts, l.id FROM tenant t CROSS JOIN request_log l
          WHERE l.tenant_id = t.id AND l.ts < ${before} LIMIT 2000)`)
      return changes
    },
  }
}

export type LogStore = ReturnType<typeof createLogStore>
