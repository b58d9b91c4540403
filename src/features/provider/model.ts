import { z } from 'zod'
import { optionalFlag, requiredText } from '../../core/fields.ts'
import { PROVIDER_KEY_CHARS_MAX, PROVIDER_URL_CHARS_MAX } from '../../core/limits/contract.ts'

/** Other fields are ignored. */
export const ProviderPutRequest = z.lazy(() =>
  z.object({
    /** Its host is checked in the service, which knows the allow-list. */
    base_url: requiredText('base_url', PROVIDER_URL_CHARS_MAX),
    api_key: requiredText('api_key', PROVIDER_KEY_CHARS_MAX),
    failover: optionalFlag('failover', true),
  }),
)
export type ProviderPutRequest = z.infer<typeof ProviderPutRequest>

/** A channel without its key, of which only the last four characters are shown. */
export const ProviderConfig = z.lazy(() =>
  z.object({
    configured: z.boolean(),
    base_url: z.string().nullable(),
    key_tail: z.string().nullable(),
    failover: z.boolean(),
  }),
)
export type ProviderConfig = z.infer<typeof ProviderConfig>

export const ProviderTestResponse = z.lazy(() =>
  z.object({
    ok: z.boolean(),
    latency_ms: z.int(),
    error: z.string().optional(),
  }),
)
export type ProviderTestResponse = z.infer<typeof ProviderTestResponse>

/** The models that the tenant's channel lists. */
export const ModelListResponse = z.lazy(() =>
  z.object({
    models: z.array(z.string()),
    channel: z.enum(['byo', 'platform']),
    /** Why the channel could not be asked; null on success, or when it has nothing to list. */
    error_class: z.string().nullable(),
  }),
)
export type ModelListResponse = z.infer<typeof ModelListResponse>
