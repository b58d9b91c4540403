import { clampedLimit } from '../../../core/fields.ts'
import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX } from '../../../core/limits/contract.ts'
import type { PrincipalKind } from '../../../core/principal.ts'
import type { Gated } from '../../../http/gate.ts'
import type { JsonAnswers } from '../../../http/json-answers.ts'
import { jsonDoc, queryDoc } from '../../../http/openapi-parts.ts'
import type { Access } from '../collections/access.ts'
import { COLLECTION_QUERY, viewIn } from '../collections/routes.ts'
import { ChosenResponse, LIBRARY_SORTS, LIBRARY_STATES, LibraryResponse } from './model.ts'
import type { Library } from './service.ts'

const PEOPLE: readonly PrincipalKind[] = ['session']

const FILTERS = queryDoc({
  q: 'words that the title has',
  title: 'the whole title',
  url: 'the address of a page',
  state: 'work: entries that are being worked on; failed: those that failed',
})

const PART = queryDoc({
  sort: 'newest (the default), oldest, title, or largest',
  limit: `entries returned, 1 to ${LIST_LIMIT_MAX}; default ${LIST_LIMIT_DEFAULT}`,
  offset: 'entries left out before them; default 0',
})

const one = <Word extends string>(words: readonly Word[], word: string | null): Word | null =>
  words.find((known) => known === word) ?? null

function queryOf({ url }: Request) {
  const given = new URL(url).searchParams
  const text = (name: string) => (given.get(name) ?? '').trim()
  return {
    q: text('q'),
    title: text('title'),
    url: text('url'),
    state: one(LIBRARY_STATES, given.get('state')),
  }
}

function partOf({ url }: Request) {
  const given = new URL(url).searchParams
  return {
    sort: one(LIBRARY_SORTS, given.get('sort')) ?? 'newest',
    limit: clampedLimit(given.get('limit'), LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX),
    offset: clampedLimit(given.get('offset'), 0, Number.MAX_SAFE_INTEGER),
  }
}

export interface LibraryRouteOptions {
  readonly library: Library
  readonly access: Access
  readonly answers: JsonAnswers
}

/** The knowledge base as the console lists it. */
export const libraryRoutes = (on: Gated, { library, access, answers }: LibraryRouteOptions) =>
  on
    .get(
      '/library',
      async (context) => {
        const view = await viewIn(access, context)
        const { request } = context
        return library.page(view, queryOf(request), partOf(request), request.signal)
      },
      {
        allow: PEOPLE,
        response: LibraryResponse,
        detail: {
          summary: 'A page of the files, web pages and typed documents, with counts of all',
          parameters: [...FILTERS, ...COLLECTION_QUERY, ...PART],
        },
      },
    )
    .get(
      '/library/chosen',
      async (context) => {
        const view = await viewIn(access, context)
        const chosen = await library.chosen(view, queryOf(context.request))
        return answers.respond(context, async () => chosen)
      },
      {
        allow: PEOPLE,
        detail: {
          summary: 'All entries that a query fits, to be worked on together',
          parameters: [...FILTERS, ...COLLECTION_QUERY],
          responses: jsonDoc(ChosenResponse),
        },
      },
    )
