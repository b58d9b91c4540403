import { z } from 'zod'
import { issue } from '../../core/errors.ts'
import {
  assistantFields,
  dailyTokens,
  newRateLimit,
  optionalText,
  requiredText,
} from '../../core/fields.ts'
import { APP_NAME_CHARS_MAX, KEY_NAME_CHARS_MAX } from '../../core/limits/contract.ts'
import { faceFields, faceShown } from './face.ts'

/** Body of POST and PUT: an omitted field falls back to the tenant's setting. */
export const AppUpsertRequest = z.object({
  name: requiredText('name', APP_NAME_CHARS_MAX),
  ...assistantFields,
  ...faceFields,
})
export type AppUpsertRequest = z.infer<typeof AppUpsertRequest>

/** An app of an imported configuration. It refers to its persona by name. */
export const ImportedApp = AppUpsertRequest.omit({ persona_id: true }).extend({
  persona_ref: z
    .string({ error: issue('field_type', { field: 'persona_ref', kind: 'string_or_null' }) })
    .trim()
    .nullable()
    .default(null),
})
export type ImportedApp = z.infer<typeof ImportedApp>

export const App = z.lazy(() =>
  z.object({
    id: z.string(),
    name: z.string(),
    system_prompt: z.string().nullable(),
    persona_id: z.string().nullable(),
    model: z.string().nullable(),
    thinking: z.boolean().nullable(),
    temperature: z.number().nullable(),
    kb_enabled: z.boolean(),
    tools_enabled: z.array(z.string()).nullable(),
    /** Whether the model may ask the person; null: the setting of the tenant. */
    may_ask: z.boolean().nullable(),
    /** What it sees of the documents; null: all. */
    collections: z.array(z.string()).nullable(),
    reminders: z.boolean().nullable(),
    memory: z.enum(['off', 'app', 'tenant']).nullable(),
    ...faceShown,
    created_at: z.string(),
  }),
)
export type App = z.infer<typeof App>

export const AppListResponse = z.lazy(() => z.object({ apps: z.array(App) }))
/** A version that a change has replaced. */
export const AppVersion = z.lazy(() =>
  z.object({
    version: z.int(),
    /** When it was changed, and by whom: the address of a person, or a key. */
    at: z.string(),
    person: z.string().nullable(),
    key_id: z.string().nullable(),
    /** The fields that the change replaced. */
    changed: z.array(z.string()),
  }),
)
export type AppVersion = z.infer<typeof AppVersion>

export const AppVersionsResponse = z.lazy(() => z.object({ versions: z.array(AppVersion) }))

export const AppDeleteResponse = z.lazy(() =>
  z.object({ id: z.string(), deleted: z.literal(true) }),
)

export const AppKeyRequest = z.lazy(() =>
  z.object({
    name: optionalText('name', KEY_NAME_CHARS_MAX),
    /** Absent: the default, or the limit of the key that asks where that is lower. */
    rate_limit: newRateLimit,
    /** Absent: the budget of the key that asks. */
    daily_tokens: dailyTokens.optional(),
  }),
)
export type AppKeyRequest = z.infer<typeof AppKeyRequest>

/** The only response that holds the plaintext of the key. */
export const AppKeyIssueResponse = z.lazy(() =>
  z.object({
    id: z.string(),
    prefix: z.string(),
    rate_limit: z.int(),
    app_id: z.string(),
    key: z.string(),
  }),
)
