import { type Db, type Statement, sql } from '../../storage/db.ts'
import type { ApprovedTool } from '../../tools/tool.ts'

/** What a run asks; it is dropped when the run is over. */
export interface RunAsk {
  readonly text: string
  readonly images?: readonly string[]
  readonly files?: readonly string[]
  readonly variables?: Readonly<Record<string, string>>
  readonly persona?: string
  readonly persona_id?: string
  readonly kb: boolean
  readonly collections?: readonly string[]
  readonly max_model_calls: number
  readonly approved_tools: readonly ApprovedTool[]
  /** False: the text is given as it stands. */
  readonly thinks: boolean
  /** The title that the conversation gets; null leaves the one that it has. */
  readonly title: string | null
}

/** Keeps what a run asks, after the statement that inserts the run; not of one that is missed. */
export const insertingAsk = (runId: string, ask: string): Statement =>
  // No lock: the run is inserted by the same transaction.
  sql`
  INSERT INTO run_ask (run_id, ask) SELECT id, ${ask} FROM run
  WHERE id = ${runId} AND status = 'waiting'`

/** Drops what a run asked that is over. */
export const droppingAsk = (runId: string): Statement =>
  // No lock: what is over stays so.
  sql`
  DELETE FROM run_ask WHERE run_id = ${runId}
    AND EXISTS (SELECT 1 FROM run WHERE id = ${runId} AND ended_at IS NOT NULL)`

/** As `droppingAsk`, of all runs of a tenant that have just ended. */
export const droppingAsks = (tenantId: string, endedAt: number): Statement =>
  // No lock: as above.
  sql`
  DELETE FROM run_ask WHERE run_id IN (SELECT id FROM run
    WHERE ended_at = ${endedAt} AND tenant_id = ${tenantId})`

/** As `droppingAsk`, of all runs of closed tenants that have just ended. */
export const droppingAsksOfClosed = (endedAt: number): Statement =>
  // No lock: as above.
  sql`
  DELETE FROM run_ask WHERE run_id IN (SELECT id FROM run
    WHERE ended_at = ${endedAt} AND tenant_id IN (SELECT id FROM tenant WHERE disabled = 1))`

/** What a run asks; null once it is over. */
export async function readAsk(db: Db, runId: string): Promise<RunAsk | null> {
  const row = await db.get<{ ask: string }>(sql`
    SELECT ask FROM run_ask WHERE run_id = ${runId}`)
  return row && (JSON.parse(row.ask) as RunAsk)
}
