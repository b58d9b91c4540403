import { type QueryClient, useQuery } from '@tanstack/react-query'
import { ApiError } from '../../api/client.ts'
import { api } from '../../api/index.ts'
import { libraryApi } from '../../api/library.ts'
import type { ChosenItem, KbDoc, LibraryPage, ListedSource, Source } from '../../api/types.ts'
import { reload } from '../../lib/reload.ts'
import type { View } from './view.ts'

/** An entry of the knowledge base: a file or page with its documents, or a single document. */
export type Item =
  | { readonly kind: 'source'; readonly source: ListedSource }
  | { readonly kind: 'doc'; readonly doc: KbDoc }

export interface Library extends Omit<LibraryPage, 'items'> {
  readonly items: readonly Item[]
}

const LIBRARY = ['kb', 'library']

export const PAGE_SIZE = 50

const POLL_MS = 1_200

/** The query of a view; empty parts are no filters. */
export const filtersOf = ({ q, collection, state }: View) => ({
  ...(q === '' ? {} : { q }),
  ...(collection === null ? {} : { collection_id: collection }),
  ...(state === '' ? {} : { state }),
})

export const itemsOf = ({ items }: LibraryPage): Item[] =>
  items.flatMap(({ source, doc }): Item[] => {
    if (source) return [{ kind: 'source', source }]
    return doc ? [{ kind: 'doc', doc }] : []
  })

async function load(client: QueryClient, view: View): Promise<Library> {
  const part = { sort: view.sort, offset: String(view.page * PAGE_SIZE), limit: String(PAGE_SIZE) }
  try {
    const page = await libraryApi.page({ ...filtersOf(view), ...part })
    return { ...page, items: itemsOf(page) }
  } catch (error) {
    const isGone = error instanceof ApiError && error.status === 404 && view.collection !== null
    if (!isGone) throw error
    // Somebody else has deleted the collection, whose filter goes with it.
    void reload(client, ['kb', 'collections'])
    return load(client, { ...view, collection: null })
  }
}

const IN_WORK: ReadonlySet<string> = new Set<Source['state']>(['queued', 'reading', 'embedding'])

export const isInWork = ({ state }: Pick<Source, 'state'>): boolean => IN_WORK.has(state)

/** Whether the page is being checked: until its list has a later check than the one before. */
export const isChecked = (
  checks: ReadonlyMap<string, string | null | undefined>,
  { id, checked_at }: ListedSource,
): boolean => checks.has(id) && checks.get(id) === checked_at

/** A page of entries. Polls while one of all is in work, or while `awaits` returns true. */
export const useLibrary = (view: View, awaits: (library: Library) => boolean) =>
  useQuery({
    queryKey: [...LIBRARY, view],
    queryFn: ({ client }) => load(client, view),
    // The page before stays until the next one has come.
    placeholderData: (before) => before,
    refetchInterval: ({ state: { data } }) =>
      data && (data.in_work > 0 || awaits(data)) ? POLL_MS : false,
  })

/** How much the tenant may store. */
export const useLimits = () =>
  useQuery({ queryKey: ['kb', 'limits'], queryFn: libraryApi.limits }).data

/** Shows the new state of a source before the list is loaded again. */
export function putSource(client: QueryClient, source: Source): void {
  client.setQueriesData<Library>({ queryKey: LIBRARY }, (library) => {
    if (!library) return library
    const items = library.items.map((item) => {
      const isIt = item.kind === 'source' && item.source.id === source.id
      return isIt ? { ...item, source: { ...item.source, ...source } } : item
    })
    return { ...library, items }
  })
}

export const titleOf = (item: Item): string =>
  item.kind === 'doc' ? item.doc.title : item.source.title

export const idOf = (item: Item): string => (item.kind === 'doc' ? item.doc.id : item.source.id)

/** An entry as it is worked on, alone or with others. */
export function chosenOf(item: Item): ChosenItem {
  const { kind } = item
  const { id, title, char_count } = kind === 'doc' ? item.doc : item.source
  const parts = kind === 'doc' ? 1 : item.source.parts
  return { kind, id, title, parts, char_count, readable: readableOf(item) !== null }
}

type Entry = Pick<ChosenItem, 'kind' | 'id'>

/** Deletes an entry with its documents. */
export const remove = ({ kind, id }: Entry): Promise<unknown> =>
  kind === 'doc' ? api.kb.remove(id) : api.sources.remove(id)

/** Gives an entry another title; a file's documents are named after it. */
export const rename = ({ kind, id }: Entry, title: string): Promise<unknown> =>
  kind === 'doc' ? api.kb.rename(id, title) : api.sources.rename(id, title)

/** The source of an item that can be read again: a page, or a failed file that is still kept. */
function readableOf(item: Item): ListedSource | null {
  if (item.kind === 'doc' || isInWork(item.source)) return null
  const { kind, state, readable_until } = item.source
  const isKept = state === 'failed' && readable_until !== undefined
  return kind === 'url' || isKept ? item.source : null
}
