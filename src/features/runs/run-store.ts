import { type Db, joined, locked, type Statement, sql } from '../../storage/db.ts'
import { droppingAsk, droppingAsks, insertingAsk, type RunAsk } from './ask-store.ts'
import type { RunStatus } from './model.ts'

export interface NewRun {
  readonly id: string
  readonly tenant_id: string
  readonly schedule_id: string | null
  readonly trigger_id: string | null
  readonly name: string | null
  readonly ask: RunAsk
  readonly app_id: string | null
  /** The session; of a schedule the beginning of its name, to which a number may be added. */
  readonly session_id: string
  readonly subject: string | null
  readonly device_id: string | null
  readonly webhook_ids: readonly string[]
  readonly key_id: string | null
  readonly user_id: string | null
  readonly late: boolean
  readonly due_at: number
  readonly fire_at: number | null
  /** When that was saved which names the webhooks. */
  readonly named_at: number | null
  readonly now: number
}

export interface RunRow {
  readonly id: string
  readonly tenant_id: string
  readonly schedule_id: string | null
  readonly trigger_id: string | null
  readonly name: string | null
  readonly status: RunStatus
  readonly app_id: string | null
  readonly session_id: string
  readonly subject: string | null
  readonly device_id: string | null
  readonly webhook_ids: string
  readonly key_id: string | null
  readonly user_id: string | null
  readonly late: number
  readonly due_at: number
  readonly started_at: number | null
  readonly ended_at: number | null
  readonly error_class: string | null
  readonly model_calls: number
  readonly input_tokens: number
  readonly output_tokens: number
  readonly tools: string
  readonly reply_chars: number | null
  readonly seq: number | null
  readonly named_at: number | null
}

export const RUN_COLUMNS = sql`
  SELECT id, tenant_id, schedule_id, trigger_id, name, status, app_id, session_id, subject,
    device_id, webhook_ids, key_id, user_id, late, due_at, started_at, ended_at, error_class,
    model_calls, input_tokens, output_tokens, tools, reply_chars, seq, named_at`
const RUNS = joined(RUN_COLUMNS, sql`FROM run`)

/** What may wait of a tenant. */
export interface WaitingBounds {
  readonly runs: number
  /** Of what all of them ask, as JSON in UTF-8. */
  readonly bytes: number
}

const UNBOUNDED = { runs: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER }

/** Which runs a list shows; null shows all. */
export interface RunFilter {
  readonly appId: string | null
  /** The person who asks: reminders of other people are left out. */
  readonly userId: string | null
  readonly status: string | null
  readonly scheduleId: string | null
}

/** Inserts a run where the bounds have room. One of a schedule that still runs is missed. */
export function insertingRun(run: NewRun, bounds: WaitingBounds = UNBOUNDED): Statement[] {
  const ask = JSON.stringify(run.ask)
  return [inserted(run, Buffer.byteLength(ask), bounds), insertingAsk(run.id, ask)]
}

function inserted(run: NewRun, bytes: number, bounds: WaitingBounds): Statement {
  const { tenant_id: tenantId, schedule_id: scheduleId, session_id: session } = run
  return locked('run', tenantId)`
    INSERT INTO run (id, tenant_id, schedule_id, trigger_id, name, ask_bytes, status, app_id,
      session_id, subject, device_id, webhook_ids, key_id, user_id, late, due_at, fire_at,
      named_at, ended_at, error_class)
    SELECT ${run.id}, ${tenantId}, ${scheduleId}, ${run.trigger_id}, ${run.name},
      CAST(${bytes} AS BIGINT),
      CASE WHEN o.open = 0 THEN 'waiting' ELSE 'missed' END, ${run.app_id},
      CASE WHEN o.minute = 0 THEN ${session}
        ELSE ${`${session}-`} || CAST(o.minute + 1 AS TEXT) END,
      ${run.subject}, ${run.device_id}, ${JSON.stringify(run.webhook_ids)}, ${run.key_id},
      ${run.user_id}, ${Number(run.late)}, ${run.due_at}, ${run.fire_at}, ${run.named_at},
      CASE WHEN o.open > 0 THEN ${run.now} END, CASE WHEN o.open > 0 THEN 'overlap' END
    FROM (SELECT
      (SELECT count(*) FROM run WHERE tenant_id = ${tenantId} AND status = 'waiting'
        AND schedule_id = ${scheduleId})
      + (SELECT count(*) FROM run WHERE tenant_id = ${tenantId} AND status = 'running'
        AND schedule_id = ${scheduleId}) AS open,
      (SELECT count(*) FROM run WHERE schedule_id = ${scheduleId} AND ${session} LIKE 'sch-%-%T%'
        AND session_id >= ${session} AND session_id < ${`${session}.`}
        AND (session_id = ${session} OR session_id LIKE ${`${session}-%`})) AS minute,
      (SELECT count(*) FROM run WHERE tenant_id = ${tenantId} AND status = 'waiting') AS waiting,
      (SELECT coalesce(sum(ask_bytes), 0) FROM run
        WHERE tenant_id = ${tenantId} AND status = 'waiting') AS bytes
    ) o WHERE o.waiting < ${bounds.runs} AND o.bytes <= ${bounds.bytes - bytes}
    ON CONFLICT (schedule_id, fire_at) DO NOTHING`
}

/** A row for times that nothing ran at. */
export const insertingMissed = (run: NewRun): Statement => sql`
  INSERT INTO run (id, tenant_id, schedule_id, name, status, app_id, session_id, subject,
    device_id, webhook_ids, key_id, user_id, late, due_at, fire_at, ended_at)
  VALUES (${run.id}, ${run.tenant_id}, ${run.schedule_id}, ${run.name}, 'missed', ${run.app_id},
    ${run.session_id}, ${run.subject}, ${run.device_id}, ${JSON.stringify(run.webhook_ids)},
    ${run.key_id}, ${run.user_id}, 1, ${run.due_at}, ${run.fire_at}, ${run.now})
  ON CONFLICT (schedule_id, fire_at) DO NOTHING`

/** Runs as people and keys see them. */
export function createRunStore(db: Db) {
  return {
    /** Newest first; those before `before`, an id of the page before. */
    list: (tenantId: string, filter: RunFilter, before: string | null, limit: number) =>
      db.all<RunRow>(
        joined(
          RUNS,
          sql`WHERE tenant_id = ${tenantId}
            AND (CAST(${before} AS TEXT) IS NULL OR id < ${before})
            AND (CAST(${filter.appId} AS TEXT) IS NULL OR app_id = ${filter.appId})
            AND (CAST(${filter.status} AS TEXT) IS NULL OR status = ${filter.status})
            AND (CAST(${filter.scheduleId} AS TEXT) IS NULL OR schedule_id = ${filter.scheduleId})
            AND (subject IS NULL OR substr(subject, 1, 5) <> 'user:'
              OR subject = ${`user:${filter.userId}`}
              OR schedule_id IS NULL OR EXISTS (SELECT 1 FROM schedule s
                WHERE s.id = run.schedule_id AND s.kind = 'schedule'))
          ORDER BY id DESC LIMIT ${limit}`,
        ),
      ),

    find: (tenantId: string, id: string) =>
      db.get<RunRow>(joined(RUNS, sql`WHERE tenant_id = ${tenantId} AND id = ${id}`)),

    /** True also for one that is gone: it may have been a reminder. */
    async isReminder(tenantId: string, scheduleId: string): Promise<boolean> {
      const schedule = await db.get(sql`
        SELECT id FROM schedule
        WHERE tenant_id = ${tenantId} AND id = ${scheduleId} AND kind = 'schedule'`)
      return schedule === null
    },

    /** Which bound left no room for the run; null where it is stored. */
    async insert(run: NewRun, bounds: WaitingBounds): Promise<keyof WaitingBounds | null> {
      const [added] = await db.batch(insertingRun(run, bounds))
      if (added?.changes === 1) return null
      const row = await db.get<{ waiting: number }>(sql`
        SELECT count(*) AS waiting FROM run
        WHERE tenant_id = ${run.tenant_id} AND status = 'waiting'`)
      return (row?.waiting ?? 0) < bounds.runs ? 'bytes' : 'runs'
    },

    /** False for a run that is over. */
    async cancel(tenantId: string, id: string, now: number): Promise<boolean> {
      const [canceled] = await db.batch([
        sql`UPDATE run SET status = 'canceled', ended_at = ${now}, holder = NULL, lease_until = NULL
          WHERE tenant_id = ${tenantId} AND id = ${id} AND status IN ('waiting', 'running')`,
        droppingAsk(id),
      ])
      return canceled?.changes === 1
    },

    /** Ends what waits and what is due by keys that were revoked and people who have left. */
    async stopRevoked(tenantId: string, now: number): Promise<void> {
      await db.batch([
        // No lock: a revoked key stays revoked.
        sql`UPDATE run SET status = 'failed', error_class = 'forbidden', ended_at = ${now}
          WHERE tenant_id = ${tenantId} AND status = 'waiting' AND (key_id IN (
            SELECT id FROM api_key WHERE tenant_id = ${tenantId} AND revoked_at IS NOT NULL)
            OR user_id NOT IN (SELECT user_id FROM member
              WHERE tenant_id = ${tenantId} AND user_id IS NOT NULL))`,
        droppingAsks(tenantId, now),
        // No lock: as above.
        sql`UPDATE schedule SET enabled = 0, next_at = NULL
          WHERE tenant_id = ${tenantId} AND enabled = 1 AND (key_id IN (
            SELECT id FROM api_key WHERE tenant_id = ${tenantId} AND revoked_at IS NOT NULL)
            OR user_id NOT IN (SELECT user_id FROM member
              WHERE tenant_id = ${tenantId} AND user_id IS NOT NULL))`,
      ])
    },

    /** Deletes up to 1,000 runs that ended before a time; resolves with their number. */
    async prune(before: number): Promise<number> {
      // No lock: what has ended stays so.
      const { changes } = await db.run(sql`
        DELETE FROM run WHERE id IN (SELECT id FROM run
          WHERE ended_at < ${before} ORDER BY ended_at LIMIT 1000)`)
      return changes
    },
  }
}
export type RunStore = ReturnType<typeof createRunStore>
