import { type Db, expectRows, joined, locked, type Statement, sql } from '../../storage/db.ts'
import { droppingAsk, droppingAsksOfClosed, readAsk } from './ask-store.ts'
import { RUN_COLUMNS, type RunRow } from './run-store.ts'

/** What a run has used when it ended. */
export interface RunEnd {
  readonly status: 'done' | 'failed'
  readonly error_class: string | null
  readonly model_calls: number
  readonly input_tokens: number
  readonly output_tokens: number
  readonly tools: readonly { readonly name: string; readonly ok: boolean }[]
  readonly reply_chars: number | null
}

/** Ends a run that this server holds; fails the transaction of one that it does not hold. */
export const endingRun = (id: string, holder: string, end: RunEnd, now: number): Statement[] => [
  expectRows(1, ended(id, holder, end, now)),
  droppingAsk(id),
]

const ended = (id: string, holder: string, end: RunEnd, now: number): Statement => sql`
  UPDATE run SET status = ${end.status}, ended_at = ${now}, error_class = ${end.error_class},
    model_calls = ${end.model_calls}, input_tokens = ${end.input_tokens},
    output_tokens = ${end.output_tokens}, tools = ${JSON.stringify(end.tools)},
    reply_chars = ${end.reply_chars}, holder = NULL, lease_until = NULL
  WHERE id = ${id} AND holder = ${holder} AND status = 'running'`

/** Runs as the server works on them. */
export function createRunQueue(db: Db) {
  return {
    /** Ends what is due of tenants that are closed. */
    missClosed: (now: number) =>
      db.batch([
        // No lock: what falls due later is ended later, and nobody begins any of it.
        sql`UPDATE run SET status = 'missed', ended_at = ${now}
          WHERE status = 'waiting' AND due_at <= ${now}
            AND tenant_id IN (SELECT id FROM tenant WHERE disabled = 1)`,
        droppingAsksOfClosed(now),
      ]),

    /** The first waiting runs of each tenant; `closed` is 1 for those of a closed one. */
    due: (now: number, perTenant: number) =>
      db.all<RunRow & { running: number; closed: number }>(
        joined(
          sql`SELECT w.*, (SELECT count(*) FROM run r
              WHERE r.tenant_id = w.tenant_id AND r.status = 'running') AS running,
            (SELECT t.disabled FROM tenant t WHERE t.id = w.tenant_id) AS closed
          FROM (`,
          RUN_COLUMNS,
          sql`, row_number() OVER (PARTITION BY tenant_id ORDER BY due_at, id) AS place
            FROM run WHERE status = 'waiting' AND due_at <= ${now}) w
          WHERE w.place <= ${perTenant} ORDER BY w.place, w.due_at LIMIT 500`,
        ),
      ),

    /** What a run asks; null once it is over. */
    ask: (id: string) => readAsk(db, id),

    /** False when another server has begun it, or the tenant has enough that run. */
    async claim(run: RunRow, holder: string, now: number, until: number, perTenant: number) {
      const { changes } = await db.run(locked('run', run.tenant_id)`
        UPDATE run SET status = 'running', holder = ${holder}, lease_until = ${until},
          started_at = ${now}
        WHERE id = ${run.id} AND status = 'waiting'
          AND (SELECT count(*) FROM run r
            WHERE r.tenant_id = ${run.tenant_id} AND r.status = 'running') < ${perTenant}`)
      return changes === 1
    },

    /** Ids of those of these runs that the server still holds, for some time more. */
    async renew(ids: readonly string[], holder: string, until: number): Promise<Set<string>> {
      const kept = new Set<string>()
      for (const id of ids) {
        const { changes } = await db.run(sql`
          UPDATE run SET lease_until = ${until}
          WHERE id = ${id} AND holder = ${holder} AND status = 'running'`)
        if (changes === 1) kept.add(id)
      }
      return kept
    },

    /** From here on it is not begun again. False when the server no longer holds it. */
    async calling(id: string, holder: string): Promise<boolean> {
      const { changes } = await db.run(sql`
        UPDATE run SET called = 1 WHERE id = ${id} AND holder = ${holder} AND status = 'running'`)
      return changes === 1
    },

    /** Runs whose server has died: `all` where no other server runs any. */
    abandoned: (now: number, all: boolean) =>
      db.all<RunRow & { holder: string }>(
        joined(
          RUN_COLUMNS,
          sql`, holder FROM run WHERE status = 'running'
            AND (lease_until <= ${now} OR ${Number(all)} = 1) LIMIT 500`,
        ),
      ),

    /** Gives a run back of which no model call had begun; false when it has ended or begun. */
    async release(id: string, holder: string): Promise<boolean> {
      const { changes } = await db.run(sql`
        UPDATE run SET status = 'waiting', holder = NULL, lease_until = NULL, started_at = NULL
        WHERE id = ${id} AND holder = ${holder} AND status = 'running' AND called = 0`)
      return changes === 1
    },

    /** All of it is stored, or the run was no longer held. */
    end: (id: string, holder: string, end: RunEnd, now: number, also: readonly Statement[]) =>
      db.batch([...endingRun(id, holder, end, now), ...also]),

    noteSeq: (id: string, seq: number) => db.run(sql`UPDATE run SET seq = ${seq} WHERE id = ${id}`),

    key: (tenantId: string, id: string) =>
      db.get<{ app_id: string | null; device_id: string | null }>(sql`
        SELECT app_id, device_id FROM api_key
        WHERE tenant_id = ${tenantId} AND id = ${id} AND revoked_at IS NULL`),
  }
}
export type RunQueue = ReturnType<typeof createRunQueue>
