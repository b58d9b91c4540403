import { z } from 'zod'
import { issue } from '../../core/errors.ts'
import { nullableText, optionalFlag, requiredText } from '../../core/fields.ts'
import {
  REFERENCE_CHARS_MAX,
  RUN_MODEL_CALLS_DEFAULT,
  RUN_MODEL_CALLS_MAX,
  RUN_WEBHOOKS_MAX,
  SCHEDULE_NAME_CHARS_MAX,
  SCHEDULE_TEXT_CHARS_MAX,
  TIME_ZONE_CHARS_MAX,
  TOOL_NAME_CHARS_MAX,
  TOOLS_ENABLED_MAX,
} from '../../core/limits/contract.ts'
import { subjectField } from '../../core/subject.ts'

/** A moment with its offset, in epoch milliseconds. */
const moment = (field: string) =>
  z.iso
    .datetime({ offset: true, error: issue('field_invalid', { field }) })
    .nullable()
    .default(null)
    .transform((text) => (text === null ? null : Date.parse(text)))

const reference = (field: string) => nullableText(field, REFERENCE_CHARS_MAX)

const list = (field: string, charsMax: number, max: number) =>
  z
    .array(requiredText(field, charsMax), {
      error: issue('field_type', { field, kind: 'string_array' }),
    })
    .max(max, { error: issue('too_many_items', { field, max }) })
    .nullable()
    .default(null)
    .transform((items) => [...new Set(items ?? [])])

const CALLS = issue('field_invalid', { field: 'max_model_calls' })
const modelCalls = z
  .int({ error: CALLS })
  .min(1, { error: CALLS })
  .max(RUN_MODEL_CALLS_MAX, { error: CALLS })
  .nullable()
  .default(null)
  .transform((value) => value ?? RUN_MODEL_CALLS_DEFAULT)

/** What POST /runs takes besides the fields of a turn. */
export const runFields = {
  app_id: reference('app_id'),
  at: moment('at'),
  max_model_calls: modelCalls,
  webhook_ids: list('webhook_ids', REFERENCE_CHARS_MAX, RUN_WEBHOOKS_MAX),
}

export const RUN_STATUSES = ['waiting', 'running', 'done', 'failed', 'canceled', 'missed'] as const
export type RunStatus = (typeof RUN_STATUSES)[number]

export const Run = z.lazy(() =>
  z.object({
    id: z.string(),
    schedule_id: z.string().nullable(),
    trigger_id: z.string().nullable(),
    status: z.enum(RUN_STATUSES),
    app_id: z.string().nullable(),
    session_id: z.string(),
    subject: z.string().nullable(),
    /** Whether the server was down when it was due. */
    late: z.boolean(),
    due_at: z.string(),
    started_at: z.string().nullable(),
    ended_at: z.string().nullable(),
    /** Why it failed or was missed. */
    error_class: z.string().nullable(),
    model_calls: z.int(),
    input_tokens: z.int(),
    output_tokens: z.int(),
    tools: z.array(z.object({ name: z.string(), ok: z.boolean() })),
    reply_chars: z.int().nullable(),
    /** Only with `?reply=1`. */
    reply: z.string().nullable().optional(),
  }),
)
export type Run = z.infer<typeof Run>

export const RunListResponse = z.lazy(() =>
  z.object({
    runs: z.array(Run),
    next_before: z.string().nullable(),
  }),
)

/** When a schedule runs: exactly one of `cron` and `at`. */
const timing = {
  cron: nullableText('cron', 200),
  at: moment('at'),
  time_zone: nullableText('time_zone', TIME_ZONE_CHARS_MAX),
}

/** Body of POST and PUT. */
export const ScheduleRequest = z.object({
  name: requiredText('name', SCHEDULE_NAME_CHARS_MAX),
  ...timing,
  text: requiredText('text', SCHEDULE_TEXT_CHARS_MAX),
  app_id: reference('app_id'),
  session: z
    .enum(['new', 'same'], { error: issue('field_invalid', { field: 'session' }) })
    .nullable()
    .default(null)
    .transform((word) => word ?? 'new'),
  subject: subjectField,
  device_id: reference('device_id'),
  webhook_ids: runFields.webhook_ids,
  max_model_calls: modelCalls,
  approved_tools: list('approved_tools', TOOL_NAME_CHARS_MAX, TOOLS_ENABLED_MAX),
  enabled: optionalFlag('enabled', true),
})
export type ScheduleRequest = z.infer<typeof ScheduleRequest>

export const PreviewRequest = z.lazy(() => z.object({ ...timing, from: moment('from') }))
export type PreviewRequest = z.infer<typeof PreviewRequest>
export const PreviewResponse = z.lazy(() => z.object({ next: z.array(z.string()) }))

/** A schedule of an imported configuration. It refers to its app by name. */
export const ImportedSchedule = ScheduleRequest.pick({
  name: true,
  cron: true,
  at: true,
  time_zone: true,
  text: true,
  session: true,
  max_model_calls: true,
}).extend({ app_ref: nullableText('app_ref', REFERENCE_CHARS_MAX) })
export type ImportedSchedule = z.infer<typeof ImportedSchedule>

export const Schedule = z.lazy(() =>
  z.object({
    id: z.string(),
    name: z.string(),
    cron: z.string().nullable(),
    at: z.string().nullable(),
    time_zone: z.string(),
    text: z.string(),
    app_id: z.string().nullable(),
    session: z.enum(['new', 'same']),
    subject: z.string().nullable(),
    device_id: z.string().nullable(),
    webhook_ids: z.array(z.string()),
    max_model_calls: z.int(),
    approved_tools: z.array(z.string()),
    kind: z.enum(['schedule', 'reminder']),
    enabled: z.boolean(),
    next_at: z.string().nullable(),
    last: z.object({ run_id: z.string(), status: z.enum(RUN_STATUSES), at: z.string() }).nullable(),
    failures: z.int(),
    /** The id of the person or the key that made it. */
    created_by: z.string().nullable(),
    created_at: z.string(),
  }),
)
export type Schedule = z.infer<typeof Schedule>

export const ScheduleListResponse = z.lazy(() =>
  z.object({
    schedules: z.array(Schedule),
    next_before: z.string().nullable(),
  }),
)
export const ScheduleDeleted = z.lazy(() => z.object({ id: z.string(), deleted: z.literal(true) }))

export const Notice = z.lazy(() =>
  z.object({
    id: z.string(),
    run_id: z.string(),
    session_id: z.string(),
    text: z.string(),
    due_at: z.string(),
  }),
)
export type Notice = z.infer<typeof Notice>
export const NoticesResponse = z.lazy(() => z.object({ notices: z.array(Notice) }))
export const NoticeRead = z.lazy(() => z.object({ id: z.string(), read: z.literal(true) }))
