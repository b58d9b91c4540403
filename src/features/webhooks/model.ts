import { z } from 'zod'
import { issue } from '../../core/errors.ts'
import { optionalFlag, requiredText } from '../../core/fields.ts'
import {
  WEBHOOK_EVENTS,
  WEBHOOK_NAME_CHARS_MAX,
  WEBHOOK_URL_CHARS_MAX,
} from '../../core/limits/contract.ts'

export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number]

const events = z.lazy(() =>
  z
    .array(z.enum(WEBHOOK_EVENTS, { error: issue('event_unknown') }), {
      error: issue('field_type', { field: 'events', kind: 'string_array' }),
    })
    .min(1, { error: issue('field_empty', { field: 'events' }) })
    .transform((names) => [...new Set(names)]),
)

const format = z
  .enum(['json', 'text'], { error: issue('field_invalid', { field: 'format' }) })
  .default('json')

/** Body of POST and PUT; also a webhook of an imported configuration. */
export const WebhookRequest = z.lazy(() =>
  z.object({
    name: requiredText('name', WEBHOOK_NAME_CHARS_MAX),
    url: requiredText('url', WEBHOOK_URL_CHARS_MAX),
    events,
    format,
    include_reply: optionalFlag('include_reply', false),
    enabled: optionalFlag('enabled', true),
  }),
)
export type WebhookRequest = z.infer<typeof WebhookRequest>

export const Webhook = z.object({
  id: z.string(),
  name: z.string(),
  /** For a viewer scheme and host only. */
  url: z.string(),
  events: z.array(z.enum(WEBHOOK_EVENTS)),
  /** `text` sends one sentence. */
  format: z.enum(['json', 'text']),
  include_reply: z.boolean(),
  enabled: z.boolean(),
  secret_tail: z.string(),
  last_status: z.int().nullable(),
  last_at: z.string().nullable(),
  /** Deliveries that failed in a row. */
  failures: z.int(),
  created_at: z.string(),
})
export type Webhook = z.infer<typeof Webhook>

/** With the secret, which is shown once. */
export const IssuedWebhook = Webhook.extend({ secret: z.string() })
export type IssuedWebhook = z.infer<typeof IssuedWebhook>

export const WebhookListResponse = z.lazy(() =>
  z.object({
    webhooks: z.array(Webhook),
    next_before: z.string().nullable(),
  }),
)
export const WebhookDeleted = z.lazy(() => z.object({ id: z.string(), deleted: z.literal(true) }))

const WEBHOOK_FAULTS = ['refused', 'timeout', 'unreachable', 'status', 'undecryptable'] as const
export type WebhookFault = (typeof WEBHOOK_FAULTS)[number]

export const WebhookTested = z.lazy(() =>
  z.object({
    ok: z.boolean(),
    status: z.int().nullable(),
    latency_ms: z.int(),
    error_class: z.enum(WEBHOOK_FAULTS).nullable(),
  }),
)
export type WebhookTested = z.infer<typeof WebhookTested>

export const Delivery = z.lazy(() =>
  z.object({
    id: z.string(),
    event: z.string(),
    at: z.string(),
    /** The last answer's; null without one. */
    status: z.int().nullable(),
    tries: z.int(),
    state: z.enum(['waiting', 'done', 'failed']),
    next_at: z.string().nullable(),
  }),
)
export type Delivery = z.infer<typeof Delivery>
export const DeliveriesResponse = z.lazy(() => z.object({ deliveries: z.array(Delivery) }))
