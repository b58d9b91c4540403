import { type QueryClient, useQuery } from '@tanstack/react-query'
import { api } from '../../api/index.ts'
import type { KbDoc, KbLimits, Source } from '../../api/types.ts'
import { reload } from '../../lib/reload.ts'

/** An item of the knowledge base: a file or page with its documents, or a single document. */
export type Item =
  | { readonly kind: 'source'; readonly source: Source; readonly parts: readonly KbDoc[] }
  | { readonly kind: 'doc'; readonly doc: KbDoc }

export interface Library {
  readonly docs: readonly KbDoc[]
  readonly sources: readonly Source[]
  readonly limits: KbLimits
}

export const LIBRARY = ['kb', 'list']

const POLL_MS = 1_200

/** Loads documents after sources, so that the documents of every ready source are included. */
async function load(): Promise<Library> {
  const [{ sources }, limits] = await Promise.all([api.sources.list(), api.sources.limits()])
  const { docs } = await api.kb.list()
  return { docs, sources, limits }
}

const IN_WORK: ReadonlySet<string> = new Set<Source['state']>(['queued', 'reading', 'embedding'])

export const isInWork = ({ state }: Source): boolean => IN_WORK.has(state)

/** Polls while a source is being processed, or while `awaits` returns true. */
export const useLibrary = (awaits: (library: Library) => boolean = () => false) =>
  useQuery({
    queryKey: LIBRARY,
    queryFn: load,
    refetchInterval: ({ state: { data } }) =>
      data && (data.sources.some(isInWork) || awaits(data)) ? POLL_MS : false,
  })

/** Shows a new source, or the new state of one, before the list is loaded again. */
export function showSource(client: QueryClient, source: Source): void {
  putSource(client, source)
  void reload(client, ['kb'])
}

/** As `showSource`, where the list is loaded again in any case. */
export function putSource(client: QueryClient, source: Source): void {
  client.setQueryData<Library>(LIBRARY, (library) => {
    if (!library) return library
    const others = library.sources.filter(({ id }) => id !== source.id)
    return { ...library, sources: [source, ...others] }
  })
}

/** Items, newest first; a source contains its parts. */
export function itemsOf({ docs, sources }: Library): Item[] {
  const parts = new Map<string, KbDoc[]>(sources.map(({ id }) => [id, []]))
  const items: Item[] = []
  for (const doc of docs) {
    const others = doc.source_id === null ? undefined : parts.get(doc.source_id)
    if (others) others.push(doc)
    else items.push({ kind: 'doc', doc })
  }
  for (const source of sources) {
    items.push({ kind: 'source', source, parts: parts.get(source.id) ?? [] })
  }
  return items.toSorted((a, b) => made(b).localeCompare(made(a)))
}

const made = (item: Item) => (item.kind === 'doc' ? item.doc : item.source).created_at

export const titleOf = (item: Item): string =>
  item.kind === 'doc' ? item.doc.title : item.source.title

export const idOf = (item: Item): string => (item.kind === 'doc' ? item.doc.id : item.source.id)

/** The documents of an item. */
export const docsOf = (item: Item): readonly KbDoc[] =>
  item.kind === 'doc' ? [item.doc] : item.parts

/** Deletes an item with its documents. */
export const remove = (item: Item): Promise<unknown> =>
  item.kind === 'doc' ? api.kb.remove(item.doc.id) : api.sources.remove(item.source.id)

/** Gives an item another title; a file's documents are named after it. */
export const rename = (item: Item, title: string): Promise<unknown> =>
  item.kind === 'doc'
    ? api.kb.rename(item.doc.id, title)
    : api.sources.rename(item.source.id, title)

/** The source of an item that can be read again: a page, or a failed file that is still kept. */
export function readableOf(item: Item): Source | null {
  if (item.kind === 'doc' || isInWork(item.source)) return null
  const { kind, state, readable_until } = item.source
  const isKept = state === 'failed' && readable_until !== undefined
  return kind === 'url' || isKept ? item.source : null
}
