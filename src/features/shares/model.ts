import { z } from 'zod'
import { issue } from '../../core/errors.ts'
import { nullableText, requiredText } from '../../core/fields.ts'
import {
  SHARE_NAME_CHARS_MAX,
  SHARE_ORIGINS_MAX,
  SHARE_TITLE_CHARS_MAX,
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

/** Sites that may embed the chat or call it from their pages. */
const origins = z.lazy(() =>
  z
    .array(origin, { error: issue('field_type', { field: 'origins', kind: 'string_array' }) })
    .max(SHARE_ORIGINS_MAX, {
      error: issue('too_many_items', { field: 'origins', max: SHARE_ORIGINS_MAX }),
    })
    .transform((sites) => [...new Set(sites)]),
)

const dailyTurns = z
  .int({ error: TURNS })
  .min(1, { error: TURNS })
  .max(SHARE_TURNS_MAX, { error: TURNS })

/** ISO 8601; null means that it does not expire. */
const expiry = z.iso
  .datetime({ offset: true, error: EXPIRY })
  .transform((time) => new Date(time).toISOString())
  .nullable()

/** Body of POST {apps}/:id/shares. */
export const ShareRequest = z.lazy(() =>
  z.object({
    name: requiredText('name', SHARE_NAME_CHARS_MAX),
    origins: origins.default([]),
    daily_turns: dailyTurns.meta({ default: SHARE_TURNS_DEFAULT }).optional(),
    expires_at: expiry.default(null),
  }),
)
export type ShareRequest = z.infer<typeof ShareRequest>

const word = <const Words extends readonly string[]>(field: string, words: Words) =>
  z.enum(words, { error: issue('unsupported_value', { field }) })

/** How the page and the button of a share look; what is omitted has its default. */
export const ShareLook = z.lazy(() =>
  z.object(
    {
      color: z
        .string({ error: issue('field_type', { field: 'color', kind: 'string_or_null' }) })
        .regex(/^#[0-9a-f]{6}$/i, { error: issue('field_invalid', { field: 'color' }) })
        .nullable()
        .default(null),
      position: word('position', ['right', 'left']).default('right'),
      /** auto: that of the visitor's browser. */
      language: word('language', ['auto', 'zh', 'en']).default('auto'),
      /** In place of the app's name. */
      title: nullableText('title', SHARE_TITLE_CHARS_MAX),
    },
    { error: issue('field_type', { field: 'look', kind: 'object' }) },
  ),
)
export type ShareLook = z.infer<typeof ShareLook>

/** Body of PUT {apps}/:id/shares/:share: what is omitted stays. */
export const ShareChange = z.lazy(() =>
  z.object({
    name: requiredText('name', SHARE_NAME_CHARS_MAX).optional(),
    origins: origins.optional(),
    daily_turns: dailyTurns.optional(),
    expires_at: expiry.optional(),
    /** A paused share refuses turns. */
    paused: z
      .boolean({ error: issue('field_type', { field: 'paused', kind: 'boolean' }) })
      .optional(),
    /** Replaced as a whole. */
    look: ShareLook.optional(),
  }),
)
export type ShareChange = z.infer<typeof ShareChange>

export const Share = z.object({
  id: z.string(),
  app_id: z.string(),
  name: z.string(),
  origins: z.array(z.string()),
  daily_turns: z.int(),
  /** Turns of this UTC day. */
  turns_today: z.int(),
  expires_at: z.string().nullable(),
  paused: z.boolean(),
  look: ShareLook,
  created_at: z.string(),
  /** What opens `/s/{token}`, and that address; absent for viewers and without encryption key. */
  token: z.string().optional(),
  url: z.string().optional(),
})
export type Share = z.infer<typeof Share>

/** A share whose token was just made. */
export const IssuedShare = Share.extend({ token: z.string(), url: z.string() })
export type IssuedShare = z.infer<typeof IssuedShare>

export const SharesResponse = z.lazy(() => z.object({ shares: z.array(Share) }))
export const ShareDeleteResponse = z.lazy(() =>
  z.object({ id: z.string(), deleted: z.literal(true) }),
)
