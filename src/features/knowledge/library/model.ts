import { z } from 'zod'
import { KbDoc } from '../model.ts'
import { Source } from '../sources/model.ts'

/** What people see of the knowledge base: files, pages and typed documents, an entry each. */

export const LIBRARY_SORTS = ['newest', 'oldest', 'title', 'largest'] as const
export type LibrarySort = (typeof LIBRARY_SORTS)[number]

/** Entries that are being worked on, and those that failed. */
export const LIBRARY_STATES = ['work', 'failed'] as const
export type LibraryState = (typeof LIBRARY_STATES)[number]

/** A file or page without the ids of its documents, which may be thousands. */
export const ListedSource = z.lazy(() =>
  Source.unwrap().omit({ doc_ids: true }).extend({
    /** Its first document; null before it is read. */
    doc_id: z.string().nullable(),
    cited_7d: z.number().int(),
  }),
)
export type ListedSource = z.infer<typeof ListedSource>

/** One of the two is null. */
export const LibraryItem = z.lazy(() =>
  z.object({ source: ListedSource.nullable(), doc: KbDoc.nullable() }),
)
export type LibraryItem = z.infer<typeof LibraryItem>

export const LibraryResponse = z.lazy(() =>
  z.object({
    items: z.array(LibraryItem),
    /** Entries that the query fits, on all pages. */
    matching: z.number().int(),
    /** Entries of the knowledge base, whatever the query. */
    entries: z.number().int(),
    docs: z.number().int(),
    in_work: z.number().int(),
    failed: z.number().int(),
    /** The entry with the most documents; null where none has several. */
    largest: z.object({ title: z.string(), parts: z.number().int() }).nullable(),
  }),
)
export type LibraryResponse = z.infer<typeof LibraryResponse>

/** An entry as it is chosen, to be worked on with others. */
export const ChosenItem = z.lazy(() =>
  z.object({
    kind: z.enum(['source', 'doc']),
    id: z.string(),
    title: z.string(),
    parts: z.number().int(),
    char_count: z.number().int(),
    /** A page, or a failed file that is still kept: it can be read again. */
    readable: z.boolean(),
  }),
)
export type ChosenItem = z.infer<typeof ChosenItem>

export const ChosenResponse = z.lazy(() => z.object({ items: z.array(ChosenItem) }))
