import { z } from 'zod'
import { type Clock, MINUTE_MS } from '../../core/clock.ts'
import { newId } from '../../core/crypto.ts'
import { AppError } from '../../core/errors.ts'
import {
  REMINDERS_MAX,
  REMINDERS_PER_TENANT_MAX,
  RUN_MODEL_CALLS_DEFAULT,
  SCHEDULE_NAME_CHARS_MAX,
} from '../../core/limits/contract.ts'
import type { Principal } from '../../core/principal.ts'
import { firstChars } from '../../core/text.ts'
import type { Statement } from '../../storage/db.ts'
import { describeTool, type Tool, ToolFailure } from '../../tools/tool.ts'
import type { ReminderStore } from './reminder-store.ts'
import { insertingSchedule, removingSchedule, type ScheduleRow } from './schedule-store.ts'
import { nextOf, type TimesOf } from './timing.ts'

export interface ReminderParts {
  readonly store: ReminderStore
  readonly timesOf: TimesOf
  readonly clock: Pick<Clock, 'now' | 'iso'>
}

/** Tools of one turn that are offered by a switch, and what they write when the turn ends well. */
export interface TurnTools {
  readonly tools: readonly Tool[]
  readonly writes: () => readonly Statement[]
  /** Takes back what was written: the turn starts over. */
  readonly startOver: () => void
}

const TEXT_CHARS_MAX = 1_000
const YEAR_MINUTES = 525_600

const setting = z.object({
  text: z.string().trim().min(1).max(TEXT_CHARS_MAX).describe('What to say then, to the person.'),
  at: z.iso.datetime({ offset: true }).optional().describe('A moment, ISO 8601 with its offset.'),
  in_minutes: z.number().positive().max(YEAR_MINUTES).optional().describe('From now.'),
  cron: z.string().max(200).optional().describe('Five fields, for what comes again and again.'),
  think: z.boolean().default(false).describe('Whether text is a question to be answered then.'),
})

const setReminder = describeTool({
  name: 'set_reminder',
  description: 'Reminds the person later, at one time or again and again.',
  args: setting,
})
const listReminders = describeTool({
  name: 'list_reminders',
  description: 'Lists the reminders of the person that are still to come.',
  args: z.object({}),
})
const cancelReminder = describeTool({
  name: 'cancel_reminder',
  description: 'Cancels a reminder by its id.',
  args: z.object({ id: z.string().trim().min(1) }),
})

/** What the model reads of a failure. */
const WORDS: Readonly<Record<string, string>> = {
  schedule_cron: 'cron needs five fields and a time that comes',
  schedule_past: 'this time is over',
  schedule_too_often: 'this comes too often',
}

/** `set_reminder`, `list_reminders` and `cancel_reminder` of a turn. */
export function createReminderTools({ store, timesOf, clock }: ReminderParts) {
  return (principal: Principal, known: string | null): TurnTools => {
    const added: ScheduleRow[] = []
    const gone = new Set<string>()
    const { tenantId, appId, deviceId } = principal

    function subject(): string {
      if (known === null) throw new ToolFailure('it is not known who is spoken with')
      return known
    }

    async function living(): Promise<ScheduleRow[]> {
      const stored = await store.ofSubject(tenantId, subject(), appId, deviceId)
      return [...stored, ...added].filter(({ id }) => !gone.has(id))
    }

    async function timed({ at, in_minutes, cron }: z.infer<typeof setting>) {
      if ([at, in_minutes, cron].filter((one) => one !== undefined).length !== 1) {
        throw new ToolFailure('give exactly one of at, in_minutes and cron')
      }
      const after = in_minutes === undefined ? null : clock.now() + in_minutes * MINUTE_MS
      const moment = at === undefined ? after : Date.parse(at)
      try {
        const asked = { cron: cron ?? null, at: moment && Math.round(moment), time_zone: null }
        return await timesOf(tenantId, asked)
      } catch (error) {
        if (error instanceof AppError) throw new ToolFailure(WORDS[error.code] ?? 'wrong time')
        throw error
      }
    }

    const tools = [
      setReminder(async (asked) => {
        const who = subject()
        const times = await timed(asked)
        if ((await living()).length >= REMINDERS_MAX) {
          throw new ToolFailure(`there are ${REMINDERS_MAX} reminders; cancel one`)
        }
        if ((await store.count(tenantId)) + added.length >= REMINDERS_PER_TENANT_MAX) {
          throw new ToolFailure(`the workspace has ${REMINDERS_PER_TENANT_MAX} reminders, its most`)
        }
        const row = rowOf(principal, who, asked, times, clock)
        added.push(row)
        return JSON.stringify(shown(row))
      }),
      listReminders(async () => JSON.stringify((await living()).map(shown))),
      cancelReminder(async ({ id }) => {
        if (!(await living()).some((one) => one.id === id)) {
          throw new ToolFailure('there is no such reminder')
        }
        gone.add(id)
        return JSON.stringify({ id, canceled: true })
      }),
    ]

    return {
      tools,
      writes: () => [
        ...added
          .filter(({ id }) => !gone.has(id))
          .map((row) => insertingSchedule(row, REMINDERS_MAX)),
        ...[...gone].map((id) => removingSchedule(tenantId, id)),
      ],
      startOver() {
        added.length = 0
        gone.clear()
      },
    }
  }
}

const shown = ({ id, text, cron, next_at }: ScheduleRow) => ({
  id,
  text,
  ...(cron === null ? {} : { cron }),
  next_at: next_at === null ? null : new Date(next_at).toISOString(),
})

const rowOf = (
  { tenantId, appId, deviceId, keyId, userId }: Principal,
  subject: string,
  { text, think }: z.infer<typeof setting>,
  times: Awaited<ReturnType<TimesOf>>,
  clock: ReminderParts['clock'],
): ScheduleRow => ({
  id: newId(),
  tenant_id: tenantId,
  name: firstChars(text.replace(/\s+/g, ' '), SCHEDULE_NAME_CHARS_MAX),
  kind: 'reminder',
  cron: times.cron,
  at: times.at,
  time_zone: times.timeZone,
  text,
  thinks: Number(think),
  app_id: appId,
  session: 'new',
  subject,
  device_id: deviceId,
  webhook_ids: '[]',
  max_model_calls: RUN_MODEL_CALLS_DEFAULT,
  approved_tools: '[]',
  enabled: 1,
  next_at: nextOf(times, clock.now()),
  failures: 0,
  key_id: keyId,
  user_id: userId,
  created_at: clock.iso(),
  saved_at: clock.now(),
  created_by: userId ?? keyId,
})
