import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/index.ts'
import type { ChosenItem } from '../../api/types.ts'
import { useAction } from '../../lib/services.tsx'
import type { Item } from './library.ts'

/** Stands for the documents that belong to no collection. */
export const NO_COLLECTION = 'none'

/** The tenant's collections, newest first; undefined while they are not loaded. */
export const useLoadedCollections = () =>
  useQuery({ queryKey: ['kb', 'collections'], queryFn: api.collections.list }).data?.collections

/** The tenant's collections, newest first; none while they are not loaded. */
export const useCollections = () => useLoadedCollections() ?? NONE
const NONE = [] as const

/** The collection of an item, or the word for none. */
export const collectionOf = (item: Item): string =>
  (item.kind === 'doc' ? item.doc : item.source).collection_id ?? NO_COLLECTION

/** Moves an entry to a collection. */
export const moveTo = ({ kind, id }: ChosenItem, to: string): Promise<unknown> =>
  kind === 'doc' ? api.kb.move(id, to) : api.sources.move(id, to)

/** Moves entries to collections, and loads the list anew. */
export function useMove() {
  return useAction(({ item, to }: { item: ChosenItem; to: string }) => moveTo(item, to), {
    done: 'kb.moved',
    refresh: ['kb'],
    several: true,
  })
}
