import { z } from 'zod'
import { dailyTokens, newRateLimit, optionalText, rateLimit } from '../../core/fields.ts'
import { KEY_NAME_CHARS_MAX } from '../../core/limits/contract.ts'

const name = optionalText('name', KEY_NAME_CHARS_MAX)

/** Body of POST /console/keys. */
export const IssueKeyRequest = z.lazy(() =>
  z.object({
    name,
    rate_limit: rateLimit,
    daily_tokens: dailyTokens.default(0),
  }),
)

/** Body of PUT /console/keys/:id; an omitted field stays as it is. */
export const KeyUpdateRequest = z.lazy(() =>
  z.object({
    name,
    rate_limit: newRateLimit,
    daily_tokens: dailyTokens.optional(),
  }),
)
export type KeyUpdateRequest = z.infer<typeof KeyUpdateRequest>

/** The only response with the key in plain text; only its sha256 is stored. */
export const IssueKeyResponse = z.lazy(() =>
  z.object({
    id: z.string(),
    prefix: z.string(),
    rate_limit: z.int(),
    key: z.string(),
  }),
)
export type IssueKeyResponse = z.infer<typeof IssueKeyResponse>

export const ApiKeyMeta = z.lazy(() =>
  z.object({
    id: z.string(),
    prefix: z.string(),
    /** The last four characters; null for keys that were issued before they were kept. */
    tail: z.string().nullable(),
    name: z.string(),
    created_at: z.int(),
    revoked_at: z.int().nullable(),
    rate_limit: z.int(),
    /** Tokens a UTC day, input and output together; 0 is no budget. */
    daily_tokens: z.int(),
    app_id: z.string().nullable(),
    device_id: z.string().nullable(),
    last_used_at: z.string().nullable(),
    calls_7d: z.int(),
  }),
)
export type ApiKeyMeta = z.infer<typeof ApiKeyMeta>

/** The metadata in a key's row; its use is counted elsewhere. */
export type StoredKey = Omit<ApiKeyMeta, 'last_used_at' | 'calls_7d'>

export const KeyListResponse = z.lazy(() => z.object({ keys: z.array(ApiKeyMeta) }))
/** What a key has made that is still good: keys of apps, devices, shares. */
export const MadeByKey = z.lazy(() =>
  z.object({
    keys: z.array(ApiKeyMeta),
    /** Those with a key, or with an activation code that may still be redeemed. */
    devices: z.array(z.object({ id: z.string(), name: z.string() })),
    shares: z.array(z.object({ id: z.string(), app_id: z.string(), name: z.string() })),
  }),
)
export type MadeByKey = z.infer<typeof MadeByKey>

export const KeyRevokeResponse = z.lazy(() =>
  z.object({ id: z.string(), revoked: z.literal(true) }),
)
