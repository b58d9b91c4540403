import { call, segment } from './client.ts'
import type * as T from './types.ts'

type Query = Readonly<Record<string, string>>

const at = (path: string, query: Query = {}) => {
  const search = new URLSearchParams(query)
  return `/console/${path}${search.size > 0 ? `?${search}` : ''}`
}

/** The knowledge base as its pages list it. Parts of a query that are left out are no filters. */
export const libraryApi = {
  page: (query: Query) => call<T.LibraryPage>('GET', at('library', query)),
  /** All that the query fits. */
  chosen: (query: Query) => call<{ items: T.ChosenItem[] }>('GET', at('library/chosen', query)),
  /** The documents of a file or page, in their order. */
  parts: (source: string) => call<{ docs: T.KbDoc[] }>('GET', at('kb/docs', { source_id: source })),
  source: (id: string) => call<T.Source>('GET', at(`kb/sources/${segment(id)}`)),
  limits: () => call<T.KbLimits>('GET', at('kb/limits')),
  /** Turns that the document was cited in, newest first. */
  citations: (id: string) =>
    call<{ citations: T.KbCitation[] }>('GET', at(`kb/docs/${segment(id)}/citations`)),
}
