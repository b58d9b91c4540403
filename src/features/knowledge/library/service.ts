import type { Clock } from '../../../core/clock.ts'
import type { KbView } from '../collections/access.ts'
import type { createDocStore } from '../index/doc-store.ts'
import { firstCitedDay } from '../search/citation-store.ts'
import type { createListStore } from '../sources/list-store.ts'
import type { ChosenItem, LibraryItem, LibraryResponse, LibrarySort } from './model.ts'
import type { LibraryQuery, LibraryStore } from './store.ts'

export interface LibraryParts {
  readonly store: LibraryStore
  readonly docs: Pick<ReturnType<typeof createDocStore>, 'some'>
  readonly sources: Pick<ReturnType<typeof createListStore>, 'some'>
  readonly clock: Clock
  /** Citations that are counted in memory before they are stored. */
  readonly citations: { flush(): Promise<void> }
}

export interface LibraryPage {
  readonly sort: LibrarySort
  readonly limit: number
  readonly offset: number
}

/** The knowledge base as people look at it: a page of entries, and what there is in all. */
export function createLibrary({ store, docs, sources, clock, citations }: LibraryParts) {
  type Key = Pick<ChosenItem, 'kind' | 'id'>

  /** Those of the entries that are still there, in order. */
  async function itemsOf({ tenantId }: KbView, keys: readonly Key[]): Promise<LibraryItem[]> {
    const idsOf = (kind: Key['kind']) => keys.filter((key) => key.kind === kind).map(({ id }) => id)
    const since = firstCitedDay(clock)
    const sourceIds = idsOf('source')
    const [sourceList, cited, docList] = await Promise.all([
      sources.some(tenantId, sourceIds, clock.now()),
      store.cited(tenantId, sourceIds, since),
      docs.some(tenantId, idsOf('doc'), since),
    ])
    const items = new Map<string, LibraryItem>()
    for (const doc of docList) items.set(doc.id, { source: null, doc })
    for (const { doc_ids, ...source } of sourceList) {
      const more = { doc_id: doc_ids[0] ?? null, cited_7d: cited.get(source.id) ?? 0 }
      items.set(source.id, { source: { ...source, ...more }, doc: null })
    }
    return keys.map(({ id }) => items.get(id)).filter((item) => item !== undefined)
  }

  return {
    /** Rejects with the signal's reason when it aborts before all is read. */
    async page(
      view: KbView,
      query: LibraryQuery,
      part: LibraryPage,
      signal: AbortSignal,
    ): Promise<LibraryResponse> {
      await citations.flush()
      const [keys, matching, counts, largest] = await Promise.all([
        store.page(view, query, part, signal),
        store.count(view, query, signal),
        store.counts(view.tenantId, signal),
        store.largest(view.tenantId, signal),
      ])
      const { docs: all, sources: files, typed, in_work, failed } = counts
      const items = await itemsOf(view, keys)
      return { items, matching, entries: files + typed, docs: all, in_work, failed, largest }
    },

    /** All entries that the query fits, as they are now. */
    chosen: async (view: KbView, query: LibraryQuery) => ({
      items: await store.chosen(view, query),
    }),
  }
}

export type Library = ReturnType<typeof createLibrary>
