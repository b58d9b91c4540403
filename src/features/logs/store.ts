import { type Db, type Statement, sql } from '../../storage/db.ts'

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
}

const insert = (row: LogRow): Statement => sql`
  INSERT INTO request_log (id, tenant_id, ts, app_id, device_id, endpoint, status, latency_ms,
    session_id, text_chars, error_class, channel)
  VALUES (${row.id}, ${row.tenantId}, ${row.ts}, ${row.appId}, ${row.deviceId}, ${row.endpoint},
    ${row.status}, ${row.latencyMs}, ${row.sessionId}, ${row.textChars}, ${row.errorClass},
    ${row.channel})`

export function createLogStore(db: Db) {
  return {
    async write(rows: readonly LogRow[]): Promise<void> {
      await db.batch(rows.map(insert))
    },
    /** Deletes the rows of all tenants older than `before`, a bounded slice at a time. */
    async prune(before: number): Promise<number> {
      const { changes } = await db.run(sql`
        DELETE FROM request_log WHERE id IN (
          SELECT id FROM request_log WHERE ts < ${before} ORDER BY ts LIMIT 5000)`)
      return changes
    },
  }
}

export type LogStore = ReturnType<typeof createLogStore>
