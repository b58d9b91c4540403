import type { Clock } from '../../../core/clock.ts'
import { newId } from '../../../core/crypto.ts'
import { appError } from '../../../core/errors.ts'
import { charCount } from '../../../core/text.ts'
import { timeSlice } from '../../../core/time-slice.ts'
import { termsOf } from '../search/terms.ts'
import type { KbLimits } from '../upload.ts'
import type { ArchiveStore } from './archive-store.ts'
import { freshText, indexTextsOf } from './index-text.ts'
import { chunksOf, type PlainChunk } from './prepare.ts'
import { type KbStore, type NewDoc, WAITING } from './store.ts'

/** The overlaps of the chunks of one document may be this many times its text. */
const OVERLAPS_MAX = 4

/** A document of an export: in chunks, or as a text that is still to be cut. */
export interface CarriedDoc {
  readonly title: string
  readonly text: string | null
  readonly chunks: readonly PlainChunk[]
  /** ISO 8601. */
  readonly createdAt: string
  readonly part: number | null
  readonly parts: number | null
}

/** Where an imported document is stored. */
export interface Destination {
  /** The source that it is a part of; the parts of a source become visible together. */
  readonly sourceId: string | null
  /** A document that it replaces. */
  readonly replaces?: string | undefined
  /** Null: none. Documents of a source have that of their source. */
  readonly collectionId?: string | null
}

export interface ArchiveParts {
  readonly store: Pick<KbStore, 'insert' | 'docsMaxOf'>
  readonly archive: ArchiveStore
  readonly limits: KbLimits
  readonly clock: Pick<Clock, 'steady'>
}

/**
 * Exports and imports documents without vectors, because servers have different embedding models.
 * An imported document is found by its words at once, and waits to be embedded (reembed.ts).
 */
export function createArchive({ store, archive, limits, clock }: ArchiveParts) {
  function checkSize(chunks: readonly PlainChunk[], fresh: readonly string[]): void {
    const bytes = (texts: readonly string[]) =>
      texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
    const all = bytes(chunks.map(({ text }) => text))
    const { docBytesMax } = limits
    if (bytes(fresh) > docBytesMax || all > OVERLAPS_MAX * docBytesMax) {
      throw appError('doc_too_large', { max: docBytesMax / 1024 })
    }
  }

  return {
    ...archive,

    /** Stores one document, all or nothing. Throws `doc_too_large` and `quota_docs`. */
    async add(
      tenantId: string,
      carried: CarriedDoc,
      { sourceId, replaces, collectionId = null }: Destination,
    ) {
      const { title, text, createdAt, part, parts } = carried
      const slice = timeSlice(clock.steady)
      if (text !== null && Buffer.byteLength(text) > limits.docBytesMax) checkSize([], [text])
      const chunks = text === null ? carried.chunks : chunksOf({ text, places: null })
      if (slice.isOver()) await slice.next()
      const fresh = chunks.map((one, i) => freshText(chunks[i - 1]?.text ?? '', one.text))
      checkSize(chunks, fresh)
      const indexTexts = indexTextsOf(
        title,
        chunks.map((one) => one.text),
      )
      const indexed: NewDoc['chunks'][number][] = []
      for (const [seq, chunk] of chunks.entries()) {
        indexed.push({ ...chunk, vector: null, terms: termsOf(indexTexts[seq] ?? '') })
        if (slice.isOver()) await slice.next()
      }
      const chars = fresh.reduce((sum, one) => sum + charCount(one), 0)
      const sized = { char_count: chars, chunk_count: chunks.length, created_at: createdAt }
      const doc = {
        id: newId(),
        title,
        ...sized,
        source_id: sourceId,
        part,
        parts,
        collection_id: collectionId,
      }
      const stage = sourceId === null ? 'live' : 'new'
      const added = { tenantId, stage, doc, model: WAITING, chunks: indexed, replaces } as const
      if (await store.insert(added)) return
      throw appError('quota_docs', { max: await store.docsMaxOf(tenantId) })
    },
  }
}

export type Archive = ReturnType<typeof createArchive>
