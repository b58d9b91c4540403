import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api } from '../../api/index.ts'
import { reload } from '../../lib/reload.ts'
import { useAction } from '../../lib/services.tsx'
import type { Item } from './library.ts'

/** Stands for the documents that belong to no collection. */
export const NO_COLLECTION = 'none'

/** The tenant's collections, newest first. */
export const useCollections = () =>
  useQuery({ queryKey: ['kb', 'collections'], queryFn: api.collections.list }).data?.collections ??
  NONE
const NONE = [] as const

/** The collection of an item, or the word for none. */
export const collectionOf = (item: Item): string =>
  (item.kind === 'doc' ? item.doc : item.source).collection_id ?? NO_COLLECTION

/** Moves items to a collection, one after another; the first failure ends it. */
export function useMove() {
  const client = useQueryClient()
  const move = async ({ items, to }: { items: readonly Item[]; to: string }) => {
    try {
      for (const item of items) {
        if (item.kind === 'doc') await api.kb.move(item.doc.id, to)
        else await api.sources.move(item.source.id, to)
      }
    } finally {
      await reload(client, ['kb'])
    }
  }
  return useAction(move, { done: 'kb.moved' })
}
