import { REMINDERS_PER_TENANT_MAX } from '../../core/limits/contract.ts'
import {
  type Db,
  expectRows,
  joined,
  locked,
  type Statement,
  sql,
  storedAsExpected,
} from '../../storage/db.ts'
import { droppingAsks } from './ask-store.ts'
import type { RunStatus } from './model.ts'

export interface ScheduleRow {
  readonly id: string
  readonly tenant_id: string
  readonly name: string
  readonly kind: 'schedule' | 'reminder'
  readonly cron: string | null
  readonly at: number | null
  readonly time_zone: string
  readonly text: string
  readonly thinks: number
  readonly app_id: string | null
  readonly session: 'new' | 'same'
  readonly subject: string | null
  readonly device_id: string | null
  readonly webhook_ids: string
  readonly max_model_calls: number
  readonly approved_tools: string
  readonly enabled: number
  readonly next_at: number | null
  readonly failures: number
  readonly key_id: string | null
  readonly user_id: string | null
  readonly created_at: string
  readonly saved_at: number | null
  /** The key or the person that made it; the other two are of who saved it last. */
  readonly created_by: string | null
}

export interface ShownSchedule extends ScheduleRow {
  readonly last_id: string | null
  readonly last_status: RunStatus | null
  readonly last_at: number | null
}

/** What a list shows; null shows all. */
export interface ScheduleFilter {
  readonly appId: string | null
  /** The person who asks: reminders of other people are left out. */
  readonly userId: string | null
}

const COLUMNS = sql`
  SELECT s.id, s.tenant_id, s.name, s.kind, s.cron, s.at, s.time_zone, s.text, s.thinks, s.app_id,
    s.session, s.subject, s.device_id, s.webhook_ids, s.max_model_calls, s.approved_tools,
    s.enabled, s.next_at, s.failures, s.key_id, s.user_id, s.created_at, s.saved_at, s.created_by,
    l.id AS last_id, l.status AS last_status, l.due_at AS last_at
  FROM schedule s LEFT JOIN run l ON l.id = (
    SELECT max(r.id) FROM run r WHERE r.schedule_id = s.id)`

const isSeen = ({ appId, userId }: ScheduleFilter): Statement => sql`
  AND (CAST(${appId} AS TEXT) IS NULL OR s.app_id = ${appId})
  AND (s.kind = 'schedule' OR s.subject IS NULL OR substr(s.subject, 1, 5) <> 'user:'
    OR s.subject = ${`user:${userId}`})`

/** Inserts a schedule: false for a taken name and for one too many. */
export const insertingSchedule = (row: ScheduleRow, max: number): Statement =>
  locked('schedule', row.tenant_id)`
    INSERT INTO schedule (id, tenant_id, name, kind, cron, at, time_zone, text, thinks, app_id,
      session, subject, device_id, webhook_ids, max_model_calls, approved_tools, enabled, next_at,
      failures, key_id, user_id, created_at, saved_at, created_by)
    SELECT ${row.id}, ${row.tenant_id}, ${row.name}, ${row.kind}, ${row.cron}, ${row.at},
      ${row.time_zone}, ${row.text}, ${row.thinks}, ${row.app_id}, ${row.session}, ${row.subject},
      ${row.device_id}, ${row.webhook_ids}, ${row.max_model_calls}, ${row.approved_tools},
      ${row.enabled}, ${row.next_at}, ${row.failures}, ${row.key_id}, ${row.user_id},
      ${row.created_at}, ${row.saved_at}, ${row.created_by}
    WHERE CASE WHEN ${row.kind} = 'reminder'
      THEN (SELECT count(*) FROM schedule WHERE tenant_id = ${row.tenant_id}
          AND kind = 'reminder' AND subject = ${row.subject} AND next_at IS NOT NULL) < ${max}
        AND (SELECT count(*) FROM schedule WHERE tenant_id = ${row.tenant_id}
          AND kind = 'reminder' AND next_at IS NOT NULL) < ${REMINDERS_PER_TENANT_MAX}
      ELSE (SELECT count(*) FROM schedule WHERE tenant_id = ${row.tenant_id}
          AND kind = 'schedule') < ${max}
        AND NOT EXISTS (SELECT 1 FROM schedule WHERE tenant_id = ${row.tenant_id}
          AND kind = 'schedule' AND name = ${row.name}) END`

// No lock: what is gone does not come back.
const IS_ORPHAN = sql`
  (device_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM device d WHERE d.id = schedule.device_id))
  OR (app_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM app a WHERE a.id = schedule.app_id))
  OR (user_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM member m
    WHERE m.tenant_id = schedule.tenant_id AND m.user_id = schedule.user_id))`

const END = sql`)`

export const removingSchedule = (tenantId: string, id: string): Statement => sql`
  DELETE FROM schedule WHERE tenant_id = ${tenantId} AND id = ${id}`

/** Schedules and reminders by tenant. */
export function createScheduleStore(db: Db) {
  return {
    /** Newest first; those before `before`, an id of the page before. */
    list: (tenantId: string, filter: ScheduleFilter, before: string | null, limit: number) =>
      db.all<ShownSchedule>(
        joined(
          COLUMNS,
          sql`WHERE s.tenant_id = ${tenantId}
            AND (CAST(${before} AS TEXT) IS NULL OR s.id < ${before})`,
          isSeen(filter),
          sql`ORDER BY s.id DESC LIMIT ${limit}`,
        ),
      ),

    /** All of a tenant that are no reminders, newest first. */
    all: (tenantId: string) =>
      db.all<ShownSchedule>(
        joined(
          COLUMNS,
          sql`WHERE s.tenant_id = ${tenantId} AND s.kind = 'schedule' ORDER BY s.id DESC`,
        ),
      ),

    find: (tenantId: string, filter: ScheduleFilter, id: string) =>
      db.get<ShownSchedule>(
        joined(COLUMNS, sql`WHERE s.tenant_id = ${tenantId} AND s.id = ${id}`, isSeen(filter)),
      ),

    named: (tenantId: string, name: string) =>
      db.get<{ id: string }>(sql`
        SELECT id FROM schedule
        WHERE tenant_id = ${tenantId} AND kind = 'schedule' AND name = ${name}`),

    async insert(row: ScheduleRow, max: number): Promise<boolean> {
      const { changes } = await db.run(insertingSchedule(row, max))
      return changes === 1
    },

    /** False when the name is taken, or there is no such schedule. */
    async replace(row: ScheduleRow): Promise<boolean> {
      const { changes } = await db.run(locked('schedule', row.tenant_id)`
        UPDATE schedule SET name = ${row.name}, cron = ${row.cron}, at = ${row.at},
          time_zone = ${row.time_zone}, text = ${row.text}, app_id = ${row.app_id},
          session = ${row.session}, subject = ${row.subject}, device_id = ${row.device_id},
          webhook_ids = ${row.webhook_ids}, max_model_calls = ${row.max_model_calls},
          approved_tools = ${row.approved_tools}, enabled = ${row.enabled},
          next_at = ${row.next_at}, failures = ${row.failures}, key_id = ${row.key_id},
          user_id = ${row.user_id}, saved_at = ${row.saved_at}
        WHERE tenant_id = ${row.tenant_id} AND id = ${row.id}
          AND (kind = 'reminder' OR NOT EXISTS (SELECT 1 FROM schedule o
            WHERE o.tenant_id = ${row.tenant_id} AND o.kind = 'schedule'
              AND o.name = ${row.name} AND o.id <> ${row.id}))`)
      return changes === 1
    },

    /** Deletes it and ends its runs that wait. */
    /** Its waiting runs are canceled. False when there is none. */
    remove: (tenantId: string, id: string, now: number): Promise<boolean> =>
      storedAsExpected(
        db.batch([
          sql`UPDATE run SET status = 'canceled', ended_at = ${now}
            WHERE tenant_id = ${tenantId} AND schedule_id = ${id} AND status = 'waiting'`,
          droppingAsks(tenantId, now),
          expectRows(1, removingSchedule(tenantId, id)),
        ]),
      ),

    /** The first of those that are due, of all tenants; after `last` of an earlier call. */
    due: (now: number, last: Pick<ScheduleRow, 'id' | 'next_at'> | null, limit: number) =>
      db.all<ScheduleRow>(sql`
        SELECT * FROM schedule WHERE next_at <= ${now} AND enabled = 1
          AND (next_at, id) > (${last?.next_at ?? 0}, ${last?.id ?? ''})
        ORDER BY next_at, id LIMIT ${limit}`),

    /** Moves a schedule on and adds its runs; rejects when another server has. */
    fire: ({ id, next_at }: ScheduleRow, next: number | null, runs: readonly Statement[]) =>
      db.batch([
        expectRows(
          1,
          sql`UPDATE schedule SET next_at = ${next}
            WHERE id = ${id} AND next_at = ${next_at} AND enabled = 1`,
        ),
        ...runs,
      ]),

    /** Deletes reminders whose device, app or person is gone. */
    async sweep(): Promise<void> {
      await db.run(joined(sql`DELETE FROM schedule WHERE kind = 'reminder' AND (`, IS_ORPHAN, END))
    },

    /** Deletes reminders made before a time that have been given. */
    async prune(before: string): Promise<void> {
      await db.run(sql`
        DELETE FROM schedule WHERE kind = 'reminder' AND next_at IS NULL AND enabled = 1
          AND created_at < ${before}`)
    },

    /** Deletes the tenant's reminders whose device, app or person is gone. */
    async sweepOrphans(tenantId: string): Promise<void> {
      await db.run(
        joined(
          sql`DELETE FROM schedule WHERE tenant_id = ${tenantId} AND kind = 'reminder' AND (`,
          IS_ORPHAN,
          END,
        ),
      )
    },

    /** How many schedules are switched on, of all tenants. */
    async count(): Promise<number> {
      const row = await db.get<{ schedules: number }>(sql`
        SELECT count(*) AS schedules FROM schedule WHERE enabled = 1`)
      return row?.schedules ?? 0
    },

    /** Whether it is the tenant's. */
    hasDevice: (tenantId: string, id: string) =>
      db.get<{ id: string }>(sql`
        SELECT id FROM device WHERE tenant_id = ${tenantId} AND id = ${id}`),
  }
}
export type ScheduleStore = ReturnType<typeof createScheduleStore>

/** What the end of a run does to its schedule. */
export const scheduleEnded = (id: string, status: 'done' | 'failed', max: number): Statement =>
  status === 'done'
    ? sql`UPDATE schedule SET failures = 0 WHERE id = ${id}`
    : sql`UPDATE schedule SET failures = failures + 1,
          next_at = CASE WHEN failures + 1 >= ${max} THEN NULL ELSE next_at END,
          enabled = CASE WHEN failures + 1 >= ${max} THEN 0 ELSE enabled END
        WHERE id = ${id}`

/** Takes a webhook from all that name it; of the transaction that deletes it. */
export const dropWebhookOfSchedules = (tenantId: string, id: string): Statement =>
  sql`UPDATE schedule SET webhook_ids = replace(replace(replace(webhook_ids,
      ${`"${id}",`}, ''), ${`,"${id}"`}, ''), ${`"${id}"`}, '')
    WHERE tenant_id = ${tenantId} AND webhook_ids LIKE ${`%"${id}"%`}`
