import { newId } from '../../core/crypto.ts'
import { firstChars } from '../../core/text.ts'
import { type Statement, sql } from '../../storage/db.ts'
import type { Outbox } from '../webhooks/outbox.ts'
import { insertingNotice } from './notice-store.ts'
import { webhooksOf } from './parts.ts'
import type { RunEnd } from './queue-store.ts'
import type { RunRow } from './run-store.ts'
import { type ScheduleStore, scheduleEnded } from './schedule-store.ts'

/** After this many failures in a row a schedule pauses. */
const FAILURES_MAX = 5
const NOTICE_CHARS_MAX = 4_000

export interface EndingParts {
  readonly outbox: Pick<Outbox, 'naming' | 'telling'>
  readonly schedules: Pick<ScheduleStore, 'find'>
}

/** What webhooks are told of a run. */
function tellingEnd({ outbox }: EndingParts, run: RunRow, end: RunEnd, reply?: string) {
  const event = end.status === 'done' ? 'run.done' : 'run.failed'
  const { id: run_id, schedule_id, name, app_id, session_id } = run
  const told = { run_id, schedule_id, name, app_id, session_id, error_class: end.error_class }
  const data = reply === undefined ? told : { ...told, reply }
  const whose = { userId: run.user_id, namedAt: run.named_at }
  return outbox.naming(run.tenant_id, event, webhooksOf(run), { data, whose })
}

/** What is stored together with the end of a run that went well. */
export function storedWithDone(
  parts: EndingParts,
  run: RunRow,
  end: RunEnd,
  { reply, now }: { readonly reply: string; readonly now: number },
): Statement[] {
  const notice = {
    tenantId: run.tenant_id,
    runId: run.id,
    sessionId: run.session_id,
    text: firstChars(reply, NOTICE_CHARS_MAX),
    dueAt: run.due_at,
    now,
  }
  const { schedule_id: scheduleId, user_id: userId, device_id: deviceId } = run
  const ofPerson = scheduleId !== null && userId !== null
  return [
    ...(scheduleId === null ? [] : [scheduleEnded(scheduleId, 'done', FAILURES_MAX)]),
    ...(ofPerson ? [insertingNotice({ ...notice, id: newId(), userId, deviceId: null })] : []),
    ...(deviceId === null
      ? []
      : [insertingNotice({ ...notice, id: newId(), userId: null, deviceId })]),
    ...tellingEnd(parts, run, end, reply),
  ]
}

/** What is stored together with the end of a run that failed. Its schedule may pause with it. */
export async function storedWithFailure(
  parts: EndingParts,
  run: RunRow,
  end: RunEnd,
): Promise<Statement[]> {
  const { tenant_id: tenantId, schedule_id: id, user_id: userId, name } = run
  const told = tellingEnd(parts, run, end)
  if (id === null) return told
  const max = end.error_class === 'forbidden' ? 1 : FAILURES_MAX
  const failed = scheduleEnded(id, 'failed', max)
  const schedule = await parts.schedules.find(tenantId, { appId: null, userId }, id)
  if (!schedule || schedule.failures + 1 < max) return [failed, ...told]
  // Before the change, which it asks for: of two runs that fail at once one pauses the schedule.
  const pauses = sql`EXISTS (SELECT 1 FROM schedule
    WHERE id = ${id} AND enabled = 1 AND failures + 1 >= ${max})`
  const paused = await parts.outbox.telling(
    tenantId,
    'schedule.paused',
    { schedule_id: id, name },
    pauses,
  )
  return [...paused, failed, ...told]
}
