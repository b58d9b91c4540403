import { z } from 'zod'
import { issue } from '../../core/errors.ts'
import { rateLimit } from '../../core/fields.ts'

/** Body of POST /console/keys. The label is accepted and not stored (specification). */
export const IssueKeyRequest = z.object({
  name: z.string({ error: issue('field_type', { field: 'name', kind: 'string' }) }).optional(),
  rate_limit: rateLimit,
})

/** The only response with the key in plain text; only its sha256 is stored. */
export const IssueKeyResponse = z.object({
  id: z.string(),
  prefix: z.string(),
  rate_limit: z.int(),
  key: z.string(),
})
export type IssueKeyResponse = z.infer<typeof IssueKeyResponse>

export const ApiKeyMeta = z.object({
  id: z.string(),
  prefix: z.string(),
  created_at: z.int(),
  revoked_at: z.int().nullable(),
  rate_limit: z.int(),
  app_id: z.string().nullable(),
  device_id: z.string().nullable(),
})
export type ApiKeyMeta = z.infer<typeof ApiKeyMeta>

export const KeyListResponse = z.object({ keys: z.array(ApiKeyMeta) })
export const KeyRevokeResponse = z.object({ id: z.string(), revoked: z.literal(true) })
