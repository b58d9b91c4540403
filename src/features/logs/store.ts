import { type Db, type Reader, type Statement, sql } from '../../storage/db.ts'
import type { LogFilter } from './model.ts'

/** One answered request, metadata only (specification, Request log). `ts` is epoch ms. */
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

/** The number of rows with one latency; null for rows without a measured one. */
export interface LatencyCount {
  readonly latencyMs: number | null
  readonly count: number
  readonly errors: number
}

const insert = (row: LogRow & LogTimes): Statement => sql`
  INSERT INTO request_log (id, tenant_id, ts, app_id, device_id, endpoint, status, latency_ms,
    session_id, text_chars, error_class, channel, key_id, first_ms, total_ms)
  VALUES (${row.id}, ${row.tenantId}, ${row.ts}, ${row.appId}, ${row.deviceId}, ${row.endpoint},
    ${row.status}, ${row.latencyMs}, ${row.sessionId}, ${row.textChars}, ${row.errorClass},
    ${row.channel}, ${row.keyId}, ${row.firstMs}, ${row.totalMs})`

function statementOf(row: WaitingRow | RowEnd): Statement {
  if ('ended' in row) return setTimes(row)
  row.isTaken = true
  return insert(row)
}

/** The WHERE condition of a filter. */
const matching = (tenantId: string, filter: LogFilter): Statement => sql`
  tenant_id = ${tenantId} AND ts BETWEEN ${filter.since} AND ${filter.until}
    AND status BETWEEN ${filter.statusFrom} AND ${filter.statusTo}
    AND (CAST(${filter.endpoint} AS TEXT) IS NULL OR endpoint = ${filter.endpoint})
    AND (CAST(${filter.appId} AS TEXT) IS NULL OR app_id = ${filter.appId})
    AND (CAST(${filter.deviceId} AS TEXT) IS NULL OR device_id = ${filter.deviceId})
    AND (CAST(${filter.keyId} AS TEXT) IS NULL OR key_id = ${filter.keyId})
    AND (CAST(${filter.sessionId} AS TEXT) IS NULL OR session_id = ${filter.sessionId})
    AND (CAST(${filter.errorClass} AS TEXT) IS NULL OR error_class = ${filter.errorClass})`

/** `reader` makes the reads that may scan a million rows. */
export function createLogStore(db: Db, reader: Reader) {
  return {
    async write(rows: readonly (WaitingRow | RowEnd)[]): Promise<void> {
      await db.batch(rows.map(statementOf))
    },

    /**
     * The start of a slice of about `rowsMax` rows that ends at `until`; null when all rows since
     * `since` fit.
     */
    async sliceStart(tenantId: string, since: number, until: number, rowsMax: number) {
      const [row] = await reader.all<{ ts: number }>(
        tenantId,
        sql`
        SELECT ts FROM request_log
        WHERE tenant_id = ${tenantId} AND ts BETWEEN ${since} AND ${until}
        ORDER BY ts DESC LIMIT 1 OFFSET ${rowsMax}`,
      )
      return row ? Math.min(row.ts + 1, until) : null
    },

    /** Newest first. */
    rows(tenantId: string, filter: LogFilter, limit: number): Promise<(LogRow & LogTimes)[]> {
      const { sql: matches, args } = matching(tenantId, filter)
      return reader.all<LogRow & LogTimes>(tenantId, {
        sql: `SELECT id, tenant_id AS "tenantId", ts, app_id AS "appId", device_id AS "deviceId",
          endpoint, status, latency_ms AS "latencyMs", session_id AS "sessionId",
          text_chars AS "textChars", error_class AS "errorClass", channel, key_id AS "keyId",
          first_ms AS "firstMs", total_ms AS "totalMs"
        FROM request_log WHERE ${matches} ORDER BY ts DESC, id DESC LIMIT ?`,
        args: [...args, limit],
      })
    },

    /** Matching rows and failures, counted by latency. */
    latencies(tenantId: string, filter: LogFilter): Promise<LatencyCount[]> {
      const { sql: matches, args } = matching(tenantId, filter)
      return reader.all<LatencyCount>(tenantId, {
        sql: `SELECT latency_ms AS "latencyMs", count(*) AS count,
          count(*) FILTER (WHERE status >= 400) AS errors
        FROM request_log WHERE ${matches} GROUP BY latency_ms`,
        args,
      })
    },

    /** Deletes up to 5,000 rows of all tenants older than `before`; resolves with their number. */
    async prune(before: number): Promise<number> {
      // No lock: rows only grow older.
      const { changes } = await db.run(sql`
        DELETE FROM request_log WHERE (tenant_id, ts, id) IN (
          SELECT l.tenant_id, l.ts, l.id FROM tenant t CROSS JOIN request_log l
          WHERE l.tenant_id = t.id AND l.ts < ${before} LIMIT 5000)`)
      return changes
    },
  }
}

export type LogStore = ReturnType<typeof createLogStore>
