import { z } from 'zod'
import { issue } from '../../core/errors.ts'
import { optionalText, requiredText } from '../../core/fields.ts'
import { PROVIDER_KEY_CHARS_MAX, PROVIDER_URL_CHARS_MAX } from '../../core/limits/contract.ts'
import { SYSTEM_PARTS } from './settings.ts'

/** A setting of the whole server. */
export const SystemSetting = z.lazy(() =>
  z.object({
    /** Its name in the environment. */
    name: z.string(),
    /** Null when it is not set or is a secret. */
    value: z.string().nullable(),
    /** The last characters of a secret. */
    secret_tail: z.string().nullable(),
    source: z.enum(['environment', 'console', 'default']),
    /** The console cannot change it. */
    locked: z.boolean(),
  }),
)
export type SystemSetting = z.infer<typeof SystemSetting>

export const SystemResponse = z.object({ settings: z.array(SystemSetting) })
export type SystemResponse = z.infer<typeof SystemResponse>

/** `{name: value | null, …}`; null returns to the default. Values are checked one by one. */
export const SystemPutRequest = z.lazy(() =>
  z.record(z.string(), z.unknown(), {
    error: issue('invalid_request'),
  }),
)
export type SystemPutRequest = z.infer<typeof SystemPutRequest>

/** `SystemPutRequest` as the API document shows it. */
export const SystemPutShown = z.lazy(() => z.record(z.string(), z.string().nullable()))

export const SystemTestRequest = z.lazy(() =>
  z.object({
    part: z.enum(SYSTEM_PARTS, { error: issue('field_invalid', { field: 'part' }) }),
  }),
)

export const SystemTestResponse = z.object({
  ok: z.boolean(),
  latency_ms: z.int(),
  /** What answered, or the reason of the failure; short and without secrets. */
  text: z.string(),
})
export type SystemTestResponse = z.infer<typeof SystemTestResponse>

/** The last use of a part with its present settings. */
const LastTest = SystemTestResponse.extend({ part: z.enum(SYSTEM_PARTS), at: z.string() })
export type LastTest = z.infer<typeof LastTest>

/** `tests`: of this server since its start. */
export const SystemShown = SystemResponse.extend({ tests: z.array(LastTest) })

export const LocalModelsResponse = z.lazy(() =>
  z.object({
    servers: z.array(
      z.object({ name: z.string(), base_url: z.string(), models: z.array(z.string()) }),
    ),
  }),
)
export type LocalModelsResponse = z.infer<typeof LocalModelsResponse>

/** The contents of the model pack's folder, and whether it is used. */
export const ModelPackResponse = z.lazy(() =>
  z.object({
    folder: z.string(),
    /** The name of the program that runs the models; null without one. */
    program: z.string().nullable(),
    /** The file of the chat model; null without one, or when the program contains it. */
    model: z.string().nullable(),
    /** Whether nothing is missing. */
    complete: z.boolean(),
    /** Whether the server found it at its start. */
    running: z.boolean(),
  }),
)
export type ModelPackResponse = z.infer<typeof ModelPackResponse>

export const ModelListRequest = z.lazy(() =>
  z.object({
    base_url: requiredText('base_url', PROVIDER_URL_CHARS_MAX),
    /** When absent, the saved key is used if the address is the saved one. */
    api_key: optionalText('api_key', PROVIDER_KEY_CHARS_MAX),
  }),
)
export type ModelListRequest = z.infer<typeof ModelListRequest>

export const ModelListResponse = z.lazy(() =>
  z.object({
    models: z.array(z.string()),
    /** Why there is no list. */
    error_class: z.string().nullable(),
  }),
)
export type ModelListResponse = z.infer<typeof ModelListResponse>
