import { z } from 'zod'
import { DAY_MS } from '../../../core/clock.ts'
import { issue } from '../../../core/errors.ts'
import { optionalText, requiredText } from '../../../core/fields.ts'
import { SOURCE_TITLE_CHARS_MAX } from '../../../core/limits/contract.ts'
import { SOURCE_URL_CHARS_MAX } from '../../../core/limits/machine.ts'
import { firstChars } from '../../../core/text.ts'

/** Bodies and answers of the sources of documents. */

const REFRESH = ['off', 'daily', 'weekly'] as const
export type Refresh = (typeof REFRESH)[number]

/** How long after a check the next one is due. */
export const REFRESH_MS = { off: null, daily: DAY_MS, weekly: 7 * DAY_MS } as const

const SOURCE_STATES = ['queued', 'reading', 'embedding', 'ready', 'failed', 'gone'] as const
export type SourceState = (typeof SOURCE_STATES)[number]

/** Why a source, or the last check of its page, has failed. */
const SOURCE_ERRORS = [
  ...['no_text', 'encrypted', 'malformed', 'too_complex', 'quota', 'upstream', 'interrupted'],
  ...['address_refused', 'unreachable', 'http_status', 'too_large', 'unsupported', 'internal'],
] as const

export const Source = z.object({
  id: z.string(),
  kind: z.enum(['file', 'url']),
  title: z.string(),
  media_type: z.string(),
  bytes: z.number().int(),
  url: z.string().nullable(),
  /** Null for a file. */
  refresh: z.enum(REFRESH).nullable(),
  state: z.enum(SOURCE_STATES),
  error_class: z.enum(SOURCE_ERRORS).nullable(),
  /** A short sentence. */
  error: z.string().nullable(),
  /** Pages of a PDF, slides of a presentation. */
  pages: z.number().int().nullable(),
  char_count: z.number().int(),
  doc_ids: z.array(z.string()),
  parts: z.number().int(),
  created_at: z.string(),
  checked_at: z.string().nullable(),
  changed_at: z.string().nullable(),
  /** When the next attempt is, after the embedder has failed. */
  retry_at: z.string().nullable(),
})
export type Source = z.infer<typeof Source>

/** The limits by the server's settings. */
export const KbLimitsResponse = z.object({
  docs_max: z.number().int(),
  doc_kb_max: z.number().int(),
  file_mb_max: z.number().int(),
})
export type KbLimitsResponse = z.infer<typeof KbLimitsResponse>

export const SourcesResponse = z.object({ sources: z.array(Source) })
export const SourceDeleteResponse = z.object({ id: z.string(), deleted: z.boolean() })

/** Makes a title of text: one line, without control characters, and not too long. */
export const cutTitle = (text: string): string =>
  firstChars(
    text
      .replace(/[\s\p{Cc}]+/gu, ' ')
      .trim()
      .toWellFormed(),
    SOURCE_TITLE_CHARS_MAX,
  )

/** Blank counts as absent. */
export const SourceTitle = optionalText('title', SOURCE_TITLE_CHARS_MAX)

const refresh = z.enum(REFRESH, { error: issue('field_invalid', { field: 'refresh' }) })

export const UrlRequest = z.object({
  url: requiredText('url', SOURCE_URL_CHARS_MAX),
  title: SourceTitle,
  refresh: refresh.default('off'),
})
export type UrlRequest = z.infer<typeof UrlRequest>

export const RefreshRequest = z.object({ refresh })
