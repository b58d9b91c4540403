import { z } from 'zod'
import { DAY_MS } from '../../../core/clock.ts'
import { issue } from '../../../core/errors.ts'
import { collectionId, optionalText, requiredText } from '../../../core/fields.ts'
import { SOURCE_ORIGIN_CHARS_MAX, SOURCE_TITLE_CHARS_MAX } from '../../../core/limits/contract.ts'
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
  ...['budget', 'no_vision'],
] as const

export const Source = z.lazy(() =>
  z.object({
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
    /** Pages that a model has read from their pictures. */
    ocr_pages: z.number().int(),
    /** Pages whose text is known, while the file is read page by page. */
    pages_done: z.number().int().optional(),
    /** Scanned pages beyond those that are read of one file; absent: none. */
    pages_unread: z.number().int().optional(),
    /** Until when a file that has failed can be read again; absent: it cannot. */
    readable_until: z.string().optional(),
    char_count: z.number().int(),
    doc_ids: z.array(z.string()),
    parts: z.number().int(),
    created_at: z.string(),
    checked_at: z.string().nullable(),
    changed_at: z.string().nullable(),
    /** When the next attempt is, after the embedder has failed. */
    retry_at: z.string().nullable(),
    /** The collection of its documents; null: none. */
    collection_id: z.string().nullable(),
    /** What the file is called where it comes from. */
    origin: z.string().nullable(),
    /** Of the file whose text it has; known where the upload named it, or an origin. */
    sha256: z.string().nullable(),
  }),
)
export type Source = z.infer<typeof Source>

/** The limits by the server's settings. */
export const KbLimitsResponse = z.lazy(() =>
  z.object({
    docs_max: z.number().int(),
    doc_kb_max: z.number().int(),
    file_mb_max: z.number().int(),
  }),
)
export type KbLimitsResponse = z.infer<typeof KbLimitsResponse>

export const SourcesResponse = z.lazy(() => z.object({ sources: z.array(Source) }))
export const SourceDeleteResponse = z.lazy(() => z.object({ id: z.string(), deleted: z.boolean() }))

/** Makes a title of text: one line, without control characters, and not too long. */
export const cutTitle = (text: string): string =>
  firstChars(
    text
      .replace(/[\s\p{Cc}]+/gu, ' ')
      .trim()
      .toWellFormed(),
    SOURCE_TITLE_CHARS_MAX,
  )

/** Where a file comes from. Blank counts as absent. */
export const SourceOrigin = optionalText('origin', SOURCE_ORIGIN_CHARS_MAX)

/** The SHA-256 of a file in hexadecimal digits. */
export const SourceHash = z
  .string()
  .trim()
  .toLowerCase()
  .regex(/^([0-9a-f]{64})?$/, { error: issue('field_invalid', { field: 'sha256' }) })
  .optional()

/** Blank counts as absent. */
export const SourceTitle = optionalText('title', SOURCE_TITLE_CHARS_MAX)

const refresh = z.enum(REFRESH, { error: issue('field_invalid', { field: 'refresh' }) })

export const UrlRequest = z.lazy(() =>
  z.object({
    url: requiredText('url', SOURCE_URL_CHARS_MAX),
    title: SourceTitle,
    refresh: refresh.default('off'),
    collection_id: collectionId,
  }),
)
export type UrlRequest = z.infer<typeof UrlRequest>

/** Of a source; what is omitted stays. */
export const SourceChange = z.lazy(() =>
  z.object({
    refresh: refresh.optional(),
    collection_id: collectionId,
    title: requiredText('title', SOURCE_TITLE_CHARS_MAX).optional(),
  }),
)
export type SourceChange = z.infer<typeof SourceChange>
