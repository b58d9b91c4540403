import { z } from 'zod'
import { issue } from '../../core/errors.ts'
import { requiredText } from '../../core/fields.ts'
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
})
export type KbDoc = z.infer<typeof KbDoc>

export const KbDocsResponse = z.object({ docs: z.array(KbDoc) })

/** How many documents wait to be embedded; until then they are found by their words. */
export const KbProgress = z.object({ docs: z.number().int(), waiting: z.number().int() })
export type KbProgress = z.infer<typeof KbProgress>

const anyText = (name: string) =>
  z
    .string({ error: issue('field_required', { field: name, kind: 'string' }) })
    .refine((value) => value.trim() !== '', {
      error: issue('field_empty', { field: name }),
    })

export const KbCreateRequest = z.object({
  title: requiredText('title', KB_TITLE_CHARS_MAX),
  /** Unchecked: the size in bytes is checked after the schema, with a status of its own. */
  text: anyText('text'),
})
export type KbCreateRequest = z.infer<typeof KbCreateRequest>

export const KbCreateResponse = KbDoc.extend({ note: z.string() })
export type KbCreateResponse = z.infer<typeof KbCreateResponse>

export const KbDeleteResponse = z.object({ id: z.string(), deleted: z.boolean() })

export const KbSearchRequest = z.object({ q: anyText('q').transform((q) => q.trim()) })

/** Where in its file a chunk begins; null when that is unknown. */
const place = {
  /** From 1. */
  page: z.number().int().nullable(),
  /** The nearest heading above. */
  heading: z.string().nullable(),
  /** The address of the web page that the text comes from. */
  url: z.string().nullable(),
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
})
export type KbHit = z.infer<typeof KbHit>

/** A hit, how relevant it is, and whether a turn would show it to the model. */
export const KbSearchHit = KbHit.extend({ relevance: z.number(), shown: z.boolean() })
export type KbSearchHit = z.infer<typeof KbSearchHit>

export const KbSearchResponse = z.object({ results: z.array(KbSearchHit) })

export const KbChunk = z.object({ seq: z.number().int(), text: z.string(), ...place })
export type KbChunk = z.infer<typeof KbChunk>
export const KbChunksResponse = z.object({ chunks: z.array(KbChunk) })

/** Consecutive chunks of a document; `next_seq` is null at its end. */
export interface KbPart {
  readonly title: string
  readonly url: string | null
  readonly chunks: readonly { readonly seq: number; readonly text: string }[]
  readonly next_seq: number | null
}
