import { z } from 'zod'
import { issue } from '../../core/errors.ts'
import { requiredText } from '../../core/fields.ts'
import {
  SHARE_NAME_CHARS_MAX,
  SHARE_ORIGINS_MAX,
  SHARE_TURNS_DEFAULT,
  SHARE_TURNS_MAX,
} from '../../core/limits/contract.ts'

/** Labels of a name, or IPv6 in brackets. `*` and `;` have a meaning in the policy of the page. */
const HOST = /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?|\[[0-9a-f:.]+\])$/

/** `https://shop.example`, as a browser writes it in the Origin header. */
const origin = z.string({ error: issue('share_origin') }).transform((given, context) => {
  const url = URL.parse(given.trim())
  const isHost = url && HOST.test(url.hostname) && !url.username && !url.password
  const isOrigin = isHost && /^https?:$/.test(url.protocol)
  if (isOrigin && url.pathname === '/' && !url.search && !url.hash) return url.origin
  context.addIssue({ code: 'custom', message: issue('share_origin') })
  return z.NEVER
})

const TURNS = issue('share_turns_range', { max: SHARE_TURNS_MAX })
const EXPIRY = issue('share_expiry')

/** Body of POST {apps}/:id/shares. */
export const ShareRequest = z.object({
  name: requiredText('name', SHARE_NAME_CHARS_MAX),
  /** Sites that may embed the chat or call it from their pages. */
  origins: z
    .array(origin, { error: issue('field_type', { field: 'origins', kind: 'string_array' }) })
    .max(SHARE_ORIGINS_MAX, {
      error: issue('too_many_items', { field: 'origins', max: SHARE_ORIGINS_MAX }),
    })
    .default([])
    .transform((origins) => [...new Set(origins)]),
  daily_turns: z
    .int({ error: TURNS })
    .min(1, { error: TURNS })
    .max(SHARE_TURNS_MAX, { error: TURNS })
    .meta({ default: SHARE_TURNS_DEFAULT })
    .optional(),
  /** ISO 8601; null or absent means that it does not expire. */
  expires_at: z.iso
    .datetime({ offset: true, error: EXPIRY })
    .transform((time) => new Date(time).toISOString())
    .nullable()
    .default(null),
})
export type ShareRequest = z.infer<typeof ShareRequest>

export const Share = z.object({
  id: z.string(),
  app_id: z.string(),
  name: z.string(),
  origins: z.array(z.string()),
  daily_turns: z.int(),
  /** Turns of this UTC day. */
  turns_today: z.int(),
  expires_at: z.string().nullable(),
  created_at: z.string(),
})
export type Share = z.infer<typeof Share>

/** The only answer that holds the token, which opens `/s/{token}`. */
export const IssuedShare = Share.extend({ token: z.string() })
export type IssuedShare = z.infer<typeof IssuedShare>

export const SharesResponse = z.object({ shares: z.array(Share) })
export const ShareDeleteResponse = z.object({ id: z.string(), deleted: z.literal(true) })
