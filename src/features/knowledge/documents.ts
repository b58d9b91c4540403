import type { Clock } from '../../core/clock.ts'
import { appError } from '../../core/errors.ts'
import type { JsonItems } from '../../core/json.ts'
import { createSemaphore } from '../../core/semaphore.ts'
import { everything, type KbView, missingCollection } from './collections/access.ts'
import type { KbStore } from './index/store.ts'
import type { TitleStore } from './index/title-store.ts'
import type { KbChunk, KbDoc, KbDocResponse, KbPart, KbProgress } from './model.ts'
import { type Citation, firstCitedDay } from './search/citation-store.ts'

export interface DocumentParts {
  readonly store: KbStore
  readonly clock: Clock
  readonly progress: (view: KbView) => Promise<KbProgress>
  /** Citations that are counted in memory before they are stored. */
  readonly citations: { add(citation: Citation): void; flush(): Promise<void> }
  readonly titles: TitleStore
  /** Indexes renamed documents anew, in the background. */
  readonly reindex: () => void
}

/** A tenant's documents as people and programs look at them, name them and put them away. */
export function createDocuments(parts: DocumentParts) {
  const { store, clock, citations, titles, reindex } = parts
  /** Each tenant reads one list at a time: it is in memory as a whole. */
  const inTurn = createSemaphore({ perKey: 1 }).run

  async function docOf(view: KbView, id: string): Promise<KbDoc> {
    const doc = await store.doc(view, id, firstCitedDay(clock))
    if (!doc) throw appError('not_found', { what: 'doc' })
    return doc
  }

  return {
    /** All documents of the view, or those of a source. */
    list: (
      view: KbView,
      signal?: AbortSignal,
      sourceId: string | null = null,
    ): Promise<{ docs: JsonItems[] }> =>
      inTurn(
        view.tenantId,
        async () => {
          await citations.flush()
          return { docs: await store.list(view, firstCitedDay(clock), sourceId) }
        },
        signal,
      ),

    /** Throws 404 for a document that the tenant does not have. */
    async exists(tenantId: string, id: string): Promise<void> {
      await docOf(everything(tenantId), id)
    },

    /** Throws 404. */
    async get(view: KbView, id: string): Promise<KbDocResponse> {
      await citations.flush()
      const [doc, pages] = await Promise.all([docOf(view, id), store.pages(view, id)])
      return { ...doc, pages }
    },

    /** Moves a document to a collection; null: it stays. Throws `doc_is_part`. */
    async move(view: KbView, id: string, collection: string | null): Promise<KbDoc> {
      const doc = await docOf(view, id)
      if (collection === null) return doc
      if (doc.source_id !== null) throw appError('doc_is_part')
      if (!(await store.move(view, id, collection))) {
        await docOf(view, id)
        throw missingCollection()
      }
      return docOf({ ...view, collections: null }, id)
    },

    /** Renames a document; it waits to be indexed anew, and is found as before meanwhile. */
    async rename(view: KbView, id: string, title: string): Promise<void> {
      const doc = await docOf(view, id)
      if (doc.source_id !== null) throw appError('doc_is_part')
      if (doc.title === title) return
      if (!(await titles.rename(view, id, title, clock.now()))) {
        throw appError('not_found', { what: 'doc' })
      }
      reindex()
    },

    /** How many documents wait to be embedded after an import or a change of the model. */
    progress: parts.progress,

    async remove(view: KbView, id: string): Promise<{ id: string; deleted: boolean }> {
      if (!(await store.remove(view, id))) throw appError('not_found', { what: 'doc' })
      return { id, deleted: true }
    },

    /** Chunks for people to look at, from number `from` on. */
    async chunks(view: KbView, id: string, from: number): Promise<{ chunks: KbChunk[] }> {
      const chunks = await store.chunks(view, id, from)
      if (!chunks) throw appError('not_found', { what: 'doc' })
      return { chunks }
    },

    /** `count` chunks of a document from number `from` on; none past its end. */
    async read(view: KbView, id: string, from: number, count: number): Promise<KbPart> {
      const part = await store.part(view, id, from, count)
      if (!part) throw appError('not_found', { what: 'doc' })
      return part
    },
  }
}
