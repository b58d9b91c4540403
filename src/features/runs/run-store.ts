import { type Db, expectRows, joined, locked, type Statement, sql } from '../../storage/db.ts'
import type { ApprovedTool } from '../../tools/tool.ts'
import type { RunStatus } from './model.ts'

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
  readonly now: number
}

/** A run without what it asks, which may be as long as the body of a turn. */
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
}

/** All but what is asked, which may be 48 MB. */
const COLUMNS = sql`
  SELECT id, tenant_id, schedule_id, trigger_id, name, status, app_id, session_id, subject,
    device_id, webhook_ids, key_id, user_id, late, due_at, started_at, ended_at, error_class,
    model_calls, input_tokens, output_tokens, tools, reply_chars, seq`
const RUNS = joined(COLUMNS, sql`FROM run`)

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

/** The statement that ends a run that this server holds. */
export const endingRun = (id: string, holder: string, end: RunEnd, now: number): Statement => sql`
  UPDATE run SET status = ${end.status}, ended_at = ${now}, error_class = ${end.error_class},
    model_calls = ${end.model_calls}, input_tokens = ${end.input_tokens},
    output_tokens = ${end.output_tokens}, tools = ${JSON.stringify(end.tools)},
    reply_chars = ${end.reply_chars}, request = NULL, holder = NULL, lease_until = NULL
  WHERE id = ${id} AND holder = ${holder} AND status = 'running'`

/** Inserts a run where the bounds have room. One of a schedule that still runs is missed. */
export function insertingRun(run: NewRun, bounds: WaitingBounds = UNBOUNDED): Statement {
  const { tenant_id: tenantId, schedule_id: scheduleId, session_id: session } = run
  const request = JSON.stringify(run.ask)
  return locked('run', tenantId)`
    INSERT INTO run (id, tenant_id, schedule_id, trigger_id, name, request, status, app_id,
      session_id, subject, device_id, webhook_ids, key_id, user_id, late, due_at, fire_at,
      ended_at, error_class)
    SELECT ${run.id}, ${tenantId}, ${scheduleId}, ${run.trigger_id}, ${run.name},
      CASE WHEN o.open = 0 THEN ${request} END,
      CASE WHEN o.open = 0 THEN 'waiting' ELSE 'missed' END, ${run.app_id},
      CASE WHEN o.minute = 0 THEN ${session}
        ELSE ${`${session}-`} || CAST(o.minute + 1 AS TEXT) END,
      ${run.subject}, ${run.device_id}, ${JSON.stringify(run.webhook_ids)}, ${run.key_id},
      ${run.user_id}, ${Number(run.late)}, ${run.due_at}, ${run.fire_at},
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
      (SELECT coalesce(sum(octet_length(request)), 0) FROM run
        WHERE tenant_id = ${tenantId} AND status = 'waiting') AS bytes
    ) o WHERE o.waiting < ${bounds.runs} AND o.bytes <= ${bounds.bytes - Buffer.byteLength(request)}
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
      const { changes } = await db.run(insertingRun(run, bounds))
      if (changes === 1) return null
      const row = await db.get<{ waiting: number }>(sql`
        SELECT count(*) AS waiting FROM run
        WHERE tenant_id = ${run.tenant_id} AND status = 'waiting'`)
      return (row?.waiting ?? 0) < bounds.runs ? 'bytes' : 'runs'
    },

    /** False for a run that is over. */
    async cancel(tenantId: string, id: string, now: number): Promise<boolean> {
      const { changes } = await db.run(sql`
        UPDATE run SET status = 'canceled', ended_at = ${now}, request = NULL, holder = NULL,
          lease_until = NULL
        WHERE tenant_id = ${tenantId} AND id = ${id} AND status IN ('waiting', 'running')`)
      return changes === 1
    },

    /** Ends what waits and what is due by keys that were revoked and people who have left. */
    async stopRevoked(tenantId: string, now: number): Promise<void> {
      await db.batch([
        // No lock: a revoked key stays revoked.
        sql`UPDATE run SET status = 'failed', error_class = 'forbidden', ended_at = ${now},
            request = NULL
          WHERE tenant_id = ${tenantId} AND status = 'waiting' AND (key_id IN (
            SELECT id FROM api_key WHERE tenant_id = ${tenantId} AND revoked_at IS NOT NULL)
            OR user_id NOT IN (SELECT user_id FROM member
              WHERE tenant_id = ${tenantId} AND user_id IS NOT NULL))`,
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

/** Runs as the server works on them. */
export function createRunQueue(db: Db) {
  return {
    /** Ends what is due of tenants that are closed. */
    missClosed: (now: number) =>
      // No lock: what falls due later is ended later, and nobody begins any of it.
      db.run(sql`
        UPDATE run SET status = 'missed', ended_at = ${now}, request = NULL
        WHERE status = 'waiting' AND due_at <= ${now}
          AND tenant_id IN (SELECT id FROM tenant WHERE disabled = 1)`),

    /** The first waiting runs of each tenant; `closed` is 1 for those of a closed one. */
    due: (now: number, perTenant: number) =>
      db.all<RunRow & { running: number; closed: number }>(
        joined(
          sql`SELECT w.*, (SELECT count(*) FROM run r
              WHERE r.tenant_id = w.tenant_id AND r.status = 'running') AS running,
            (SELECT t.disabled FROM tenant t WHERE t.id = w.tenant_id) AS closed
          FROM (`,
          COLUMNS,
          sql`, row_number() OVER (PARTITION BY tenant_id ORDER BY due_at, id) AS place
            FROM run WHERE status = 'waiting' AND due_at <= ${now}) w
          WHERE w.place <= ${perTenant} ORDER BY w.place, w.due_at LIMIT 500`,
        ),
      ),

    /** What a run asks; null once it is over. */
    async ask(id: string): Promise<RunAsk | null> {
      const row = await db.get<{ request: string | null }>(sql`
        SELECT request FROM run WHERE id = ${id}`)
      return row?.request ? (JSON.parse(row.request) as RunAsk) : null
    },

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
          COLUMNS,
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
      db.batch([expectRows(1, endingRun(id, holder, end, now)), ...also]),

    noteSeq: (id: string, seq: number) => db.run(sql`UPDATE run SET seq = ${seq} WHERE id = ${id}`),

    key: (tenantId: string, id: string) =>
      db.get<{ app_id: string | null; device_id: string | null }>(sql`
        SELECT app_id, device_id FROM api_key
        WHERE tenant_id = ${tenantId} AND id = ${id} AND revoked_at IS NULL`),
  }
}
export type RunQueue = ReturnType<typeof createRunQueue>
