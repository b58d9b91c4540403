import { z } from 'zod'
import { issue } from '../../core/errors.ts'
import { collectionId, narrowing, requiredText } from '../../core/fields.ts'
import { KB_TITLE_CHARS_MAX } from '../../core/limits/contract.ts'

/** Bodies and answers of the knowledge base. */
export const KbDoc = z.object({
  id: z.string(),
  title: z.string(),
  /** Unicode code points. */
  char_count: z.number().int(),
  chunk_count: z.number().int(),
  created_at: z.string(),
  /** The file or page that the document is a part of, and its place among the parts, from 1. */
  source_id: z.string().nullable(),
  part: z.number().int().nullable(),
  parts: z.number().int().nullable(),
  /** Searches of turns that showed passages of it, today and in the six days before (UTC). */
  cited_7d: z.number().int(),
  /** Null: it belongs to none. */
  collection_id: z.string().nullable(),
})
export type KbDoc = z.infer<typeof KbDoc>

/** A document, and the passages at which its pages begin. */
export const KbDocResponse = z.lazy(() =>
  KbDoc.extend({
    pages: z.array(z.object({ page: z.number().int(), seq: z.number().int() })),
  }),
)
export type KbDocResponse = z.infer<typeof KbDocResponse>

export const KbDocsResponse = z.lazy(() => z.object({ docs: z.array(KbDoc) }))

/** How many documents wait to be embedded; until then they are found by their words. */
export const KbProgress = z.lazy(() =>
  z.object({ docs: z.number().int(), waiting: z.number().int() }),
)
export type KbProgress = z.infer<typeof KbProgress>

const anyText = (name: string) =>
  z
    .string({ error: issue('field_required', { field: name, kind: 'string' }) })
    .refine((value) => value.trim() !== '', {
      error: issue('field_empty', { field: name }),
    })

export const KbCreateRequest = z.lazy(() =>
  z.object({
    title: requiredText('title', KB_TITLE_CHARS_MAX),
    /** Unchecked: the size in bytes is checked after the schema, with a status of its own. */
    text: anyText('text'),
    collection_id: collectionId,
  }),
)

/** Of a document; what is omitted stays. */
export const KbChangeRequest = z.lazy(() =>
  z.object({
    collection_id: collectionId,
    title: requiredText('title', KB_TITLE_CHARS_MAX).optional(),
  }),
)
export type KbCreateRequest = z.infer<typeof KbCreateRequest>

export const KbCreateResponse = KbDoc.extend({ note: z.string() })
export type KbCreateResponse = z.infer<typeof KbCreateResponse>

export const KbDeleteResponse = z.lazy(() => z.object({ id: z.string(), deleted: z.boolean() }))

export const KbSearchRequest = z.lazy(() =>
  z.object({
    q: anyText('q').transform((q) => q.trim()),
    collections: narrowing,
  }),
)

/** Where in its file a chunk begins; null when that is unknown. */
const place = {
  /** From 1. */
  page: z.number().int().nullable(),
  /** The nearest heading above. */
  heading: z.string().nullable(),
  /** The address of the web page that the text comes from. */
  url: z.string().nullable(),
  /** A model has read the page from a picture. */
  ocr: z.literal(true).optional(),
}

export const KbHit = z.object({
  doc_id: z.string(),
  title: z.string(),
  /** Chunk number in the document, from 0. */
  seq: z.number().int(),
  /** Cosine similarity. */
  score: z.number(),
  text: z.string(),
  ...place,
  /** The collection of its document; null: none. */
  collection_id: z.string().nullable(),
})
export type KbHit = z.infer<typeof KbHit>

/** A hit: how relevant it is, by which sentence, and whether a turn would show it to the model. */
export const KbSearchHit = KbHit.extend({
  relevance: z.number(),
  /** The one that matches the question best; absent when the model cannot tell. */
  sentence: z.string().optional(),
  shown: z.boolean(),
})
export type KbSearchHit = z.infer<typeof KbSearchHit>

export const KbSearchResponse = z.lazy(() => z.object({ results: z.array(KbSearchHit) }))

export const KbChunk = z.lazy(() => z.object({ seq: z.number().int(), text: z.string(), ...place }))
export type KbChunk = z.infer<typeof KbChunk>
export const KbChunksResponse = z.lazy(() => z.object({ chunks: z.array(KbChunk) }))

/** Consecutive chunks of a document; `next_seq` is null at its end. */
export interface KbPart {
  readonly title: string
  readonly url: string | null
  readonly chunks: readonly { readonly seq: number; readonly text: string }[]
  readonly next_seq: number | null
}
