import type { Clock } from '../../core/clock.ts'
import { newId } from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import type { Principal } from '../../core/principal.ts'
import type { ApprovedTool } from '../../tools/tool.ts'
import type { ImportedSchedule, Schedule } from './model.ts'
import { isoOf } from './parts.ts'
import type { NewRun } from './run-store.ts'
import type { ScheduleRow, ShownSchedule } from './schedule-store.ts'
import { cronOf, minuteIn } from './times.ts'
import { isTimeZone } from './timing.ts'

export interface Firing {
  readonly due: number
  /** The time of the schedule; null for a run by hand. */
  readonly fire: number | null
  readonly late: boolean
  readonly now: number
  readonly session: string
}

/** A run of the schedule. */
export const runOf = (
  schedule: ScheduleRow,
  { due, fire, late, now, session }: Firing,
): NewRun => ({
  id: newId(),
  tenant_id: schedule.tenant_id,
  schedule_id: schedule.id,
  trigger_id: null,
  name: schedule.name,
  ask: {
    text: schedule.text,
    kb: true,
    max_model_calls: schedule.max_model_calls,
    approved_tools: JSON.parse(schedule.approved_tools) as ApprovedTool[],
    thinks: schedule.thinks === 1,
    title:
      schedule.session === 'same'
        ? schedule.name
        : `${schedule.name} ${minuteIn(schedule.time_zone, due)}`,
  },
  app_id: schedule.app_id,
  session_id: session,
  subject: schedule.subject,
  device_id: schedule.device_id,
  webhook_ids: JSON.parse(schedule.webhook_ids) as string[],
  key_id: schedule.key_id,
  user_id: schedule.user_id,
  late,
  due_at: due,
  fire_at: fire,
  named_at: schedule.saved_at,
  now,
})

export function shown(row: ShownSchedule): Schedule {
  const { last_id, last_status, last_at } = row
  const approved = JSON.parse(row.approved_tools) as ApprovedTool[]
  return {
    id: row.id,
    name: row.name,
    cron: row.cron,
    at: isoOf(row.at),
    time_zone: row.time_zone,
    text: row.text,
    app_id: row.app_id,
    session: row.session,
    subject: row.subject,
    device_id: row.device_id,
    webhook_ids: JSON.parse(row.webhook_ids) as string[],
    max_model_calls: row.max_model_calls,
    approved_tools: approved.map(({ name }) => name),
    kind: row.kind,
    enabled: row.enabled === 1,
    next_at: isoOf(row.next_at),
    last:
      last_id === null
        ? null
        : {
            run_id: last_id,
            status: last_status ?? 'missed',
            at: new Date(last_at ?? 0).toISOString(),
          },
    failures: row.failures,
    created_by: row.created_by ?? row.user_id ?? row.key_id,
    created_at: row.created_at,
  }
}

/** Whose a schedule is: its runs act for them and spend their tokens. */
export type Maker = Pick<Principal, 'tenantId' | 'keyId' | 'userId'>
type Time = Pick<Clock, 'now' | 'iso'>

/** A schedule of another tenant, switched off. Throws `schedule_cron`. */
export function importedRow(
  { tenantId, keyId, userId }: Maker,
  id: string | null,
  item: Omit<ImportedSchedule, 'app_ref'> & { readonly app_id: string | null },
  { serverZone, clock }: { readonly serverZone: string; readonly clock: Time },
): ScheduleRow {
  const { name, cron, at, text, app_id, session, max_model_calls } = item
  const timeZone = item.time_zone ?? serverZone
  if ((cron === null) === (at === null) || (cron !== null && cronOf(cron) === null)) {
    throw appError('schedule_cron')
  }
  return {
    id: id ?? newId(),
    tenant_id: tenantId,
    name,
    kind: 'schedule',
    cron: cron === null ? null : cronOf(cron),
    at,
    time_zone: isTimeZone(timeZone) ? timeZone : serverZone,
    text,
    thinks: 1,
    app_id,
    session,
    subject: null,
    device_id: null,
    webhook_ids: '[]',
    max_model_calls,
    approved_tools: '[]',
    enabled: 0,
    next_at: null,
    failures: 0,
    key_id: userId === null ? keyId : null,
    user_id: userId,
    created_at: clock.iso(),
    saved_at: clock.now(),
    created_by: userId ?? keyId,
  }
}
