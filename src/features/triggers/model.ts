import { z } from 'zod'
import { issue } from '../../core/errors.ts'
import { nullableText, optionalFlag, requiredText } from '../../core/fields.ts'
import {
  REFERENCE_CHARS_MAX,
  TRIGGER_NAME_CHARS_MAX,
  TRIGGER_TEXT_CHARS_MAX,
  TRIGGER_WEBHOOKS_MAX,
} from '../../core/limits/contract.ts'

const WEBHOOKS = { field: 'webhook_ids', max: TRIGGER_WEBHOOKS_MAX }

/** Body of POST and PUT. */
export const TriggerRequest = z.lazy(() =>
  z.object({
    name: requiredText('name', TRIGGER_NAME_CHARS_MAX),
    app_id: nullableText('app_id', REFERENCE_CHARS_MAX),
    /** `{{body}}` in it is where the body of a call goes; without it, at the end. */
    text: requiredText('text', TRIGGER_TEXT_CHARS_MAX),
    session: z
      .enum(['new', 'same'], { error: issue('field_invalid', { field: 'session' }) })
      .default('new'),
    webhook_ids: z
      .array(requiredText('webhook_ids', REFERENCE_CHARS_MAX), {
        error: issue('field_type', { field: 'webhook_ids', kind: 'string_array' }),
      })
      .max(TRIGGER_WEBHOOKS_MAX, { error: issue('too_many_items', WEBHOOKS) })
      .default([])
      .transform((ids) => [...new Set(ids)]),
    enabled: optionalFlag('enabled', true),
  }),
)
export type TriggerRequest = z.infer<typeof TriggerRequest>

/** An address at which anybody who knows it begins a run. */
export const Trigger = z.object({
  id: z.string(),
  name: z.string(),
  app_id: z.string().nullable(),
  text: z.string(),
  session: z.enum(['new', 'same']),
  webhook_ids: z.array(z.string()),
  enabled: z.boolean(),
  last_at: z.string().nullable(),
  /** Calls that began a run. */
  count: z.int(),
  created_at: z.string(),
})
export type Trigger = z.infer<typeof Trigger>

/** With the address, which is shown once. */
export const IssuedTrigger = Trigger.extend({ url: z.string() })
export type IssuedTrigger = z.infer<typeof IssuedTrigger>

export const TriggerListResponse = z.lazy(() =>
  z.object({
    triggers: z.array(Trigger),
    next_before: z.string().nullable(),
  }),
)
export const TriggerDeleted = z.lazy(() => z.object({ id: z.string(), deleted: z.literal(true) }))
export const RunStarted = z.lazy(() => z.object({ run_id: z.string() }))
