import { z } from 'zod'
import { issue } from '../../core/errors.ts'
import { requiredText } from '../../core/fields.ts'
import {
  COLLECTION_NAME_CHARS_MAX,
  KB_HEADING_CHARS_MAX,
  KB_TITLE_CHARS_MAX,
  SOURCE_TITLE_CHARS_MAX,
} from '../../core/limits/contract.ts'
import { SOURCE_FILE_NAME_CHARS_MAX, SOURCE_URL_CHARS_MAX } from '../../core/limits/machine.ts'
import { KEYS_PER_DOC } from '../../storage/indexes.ts'
import type { CarriedDoc } from '../knowledge/index/archive.ts'

/** The documents of an export with the knowledge base. */

const wellFormed = z.string().overwrite((text) => text.toWellFormed().replaceAll('\0', '\ufffd'))
const time = z.iso.datetime({ offset: true }).transform((at) => new Date(at).toISOString())
const count = z.int().min(0)

const CarriedSource = z.lazy(() =>
  z.object({
    /** Identifies the source within the file; documents of one source are consecutive. */
    id: z.string().max(100),
    kind: z.enum(['file', 'url']),
    title: requiredText('source.title', SOURCE_TITLE_CHARS_MAX),
    /** Whether the title was given; the page's own title does not replace it then. */
    named: z.boolean().default(true),
    file_name: wellFormed.max(SOURCE_FILE_NAME_CHARS_MAX).default(''),
    media_type: wellFormed.max(200).default('application/octet-stream'),
    bytes: count.default(0),
    url: z.string().max(SOURCE_URL_CHARS_MAX).nullable().default(null),
    refresh: z.enum(['off', 'daily', 'weekly']).nullable().default(null),
    /** Whether the page no longer exists. */
    gone: z.boolean().default(false),
    /** Pages of a PDF, slides of a presentation. */
    pages: count.nullable().default(null),
    /** Pages that a model has read from their pictures. */
    ocr_pages: count.default(0),
    /** Scanned pages that stay unread. */
    pages_unread: count.default(0),
    /** SHA-256 of its text, by which a check sees whether it has changed. */
    text_hash: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .nullable()
      .default(null),
    created_at: time.optional(),
    checked_at: time.nullable().default(null),
    changed_at: time.nullable().default(null),
  }),
)

const Chunk = z.lazy(() =>
  z.object({
    text: wellFormed.min(1),
    page: z.int().nullable().default(null),
    heading: wellFormed
      .max(2 * KB_HEADING_CHARS_MAX)
      .nullable()
      .default(null),
    /** A model has read its page from a picture. */
    ocr: z.literal(true).optional(),
  }),
)

/** As the API document shows it. */
export const CarriedDocumentShown = z.lazy(() =>
  z.object({
    title: requiredText('title', KB_TITLE_CHARS_MAX),
    created_at: time.optional(),
    /** Its number among the documents of its source, from 1, and how many there are. */
    part: z.int().min(1).nullable().default(null),
    parts: z.int().min(1).nullable().default(null),
    source: CarriedSource.nullable().default(null),
    /** The name of its collection. */
    collection: z.string().max(COLLECTION_NAME_CHARS_MAX).nullable().default(null),
    /** Slices of the text in order; each begins with the end of the one before. */
    chunks: z
      .array(Chunk)
      .max(KEYS_PER_DOC, {
        error: issue('too_many_items', { field: 'chunks', max: KEYS_PER_DOC }),
      })
      .default([]),
    /** Instead of `chunks`, in files that another program has written. */
    text: z
      .string()
      .transform((text) => text.trim().toWellFormed())
      .optional(),
  }),
)

/** Only a page may have no text: one that was not read yet. */
export const CarriedDocument = CarriedDocumentShown.refine(
  ({ source, chunks, text }) => source?.kind === 'url' || chunks.length > 0 || !!text,
  { error: issue('field_empty', { field: 'chunks' }) },
)
export type CarriedDocument = z.infer<typeof CarriedDocumentShown>

export const carriedDoc = (doc: CarriedDocument, now: string): CarriedDoc => {
  const { title, created_at: createdAt = now, part, parts, chunks, text } = doc
  return { title, createdAt, part, parts, chunks, text: chunks.length > 0 ? null : (text ?? '') }
}
