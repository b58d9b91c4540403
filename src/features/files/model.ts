import { z } from 'zod'
import { collectionId, optionalText } from '../../core/fields.ts'
import { KB_TITLE_CHARS_MAX } from '../../core/limits/contract.ts'
import type { Source } from '../knowledge/sources/model.ts'

/** A file that people talk about. */
export const ChatFile = z.lazy(() =>
  z.object({
    id: z.string(),
    name: z.string(),
    media_type: z.string(),
    bytes: z.number().int(),
    state: z.enum(['reading', 'ready', 'failed']),
    /** As that of a source of the knowledge base. */
    error_class: z.custom<Source['error_class']>().meta({ type: ['string', 'null'] }),
    /** A short sentence. */
    error: z.string().nullable(),
    /** Null for a file without pages, and while nothing is known of them. */
    pages: z.number().int().nullable(),
    pages_done: z.number().int().nullable(),
    /** Pages that a model has read from their pictures. */
    ocr_pages: z.number().int(),
    /** Scanned pages beyond those that are read of one file; absent: none. */
    pages_unread: z.number().int().optional(),
    /** Until when a failed file can be read again; absent: it cannot. */
    readable_until: z.string().optional(),
    /** Unicode code points. */
    char_count: z.number().int(),
    /** Each turn that names the file moves it. */
    expires_at: z.string(),
    created_at: z.string(),
  }),
)
export type ChatFile = z.infer<typeof ChatFile>

export const ChatFilesResponse = z.lazy(() =>
  z.object({
    files: z.array(ChatFile),
    next_before: z.string().nullable(),
  }),
)
export type ChatFilesResponse = z.infer<typeof ChatFilesResponse>

export const ChatFileDeleted = z.lazy(() => z.object({ id: z.string(), deleted: z.literal(true) }))

export const ChatFileText = z.lazy(() =>
  z.object({
    passages: z.array(
      z.object({
        /** From 0, through the whole file. */
        seq: z.number().int(),
        /** From 1. */
        page: z.number().int().nullable(),
        heading: z.string().nullable(),
        text: z.string(),
        /** A model has read the page from a picture. */
        ocr: z.literal(true).optional(),
      }),
    ),
    /** The number of the passage after these; null at the end. */
    next: z.number().int().nullable(),
  }),
)
export type ChatFileText = z.infer<typeof ChatFileText>

/** Blank counts as absent. */
export const KeepRequest = z.lazy(() =>
  z.object({
    title: optionalText('title', KB_TITLE_CHARS_MAX),
    collection_id: collectionId,
  }),
)
export type KeepRequest = z.infer<typeof KeepRequest>

/** A source of the knowledge base, with all its fields. */
export const KeptSource = z.lazy(() =>
  z.looseObject({
    id: z.string(),
    kind: z.literal('file'),
    title: z.string(),
    state: z.string(),
  }),
)
