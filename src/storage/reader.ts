import type { Statement } from './db.ts'

/** Reads off the event loop, where tenants take turns: for searches and scans. */
export interface Reader {
  /**
   * As `Db.all`. Rejects with the signal's reason when the signal aborts before the statement's
   * turn.
   */
  all<Row>(tenantId: string, statement: Statement, signal?: AbortSignal): Promise<Row[]>
}
