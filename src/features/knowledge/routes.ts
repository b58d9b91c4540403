import { appError } from '../../core/errors.ts'
import { KB_BODY_BYTES_MAX } from '../../core/limits/machine.ts'
import { EVERYONE, NOT_DEVICES } from '../../core/principal.ts'
import { charCount } from '../../core/text.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gated } from '../../http/gate.ts'
import type { JsonAnswers } from '../../http/json-answers.ts'
import type { RequestContexts } from '../../http/observe.ts'
import { jsonDoc, queryDoc } from '../../http/openapi-parts.ts'
import { withoutIdleTimeout } from '../../http/request-limits.ts'
import type { Access } from './collections/access.ts'
import { COLLECTION_QUERY, viewIn } from './collections/routes.ts'
import {
  KbChangeRequest,
  KbChunksResponse,
  KbCreateRequest,
  KbCreateResponse,
  KbDeleteResponse,
  KbDoc,
  KbDocResponse,
  KbDocsResponse,
  KbProgress,
  KbSearchRequest,
  KbSearchResponse,
} from './model.ts'
import type { Kb } from './service.ts'

const createBody = jsonBody(KbCreateRequest, { bytesMax: KB_BODY_BYTES_MAX })
const changeBody = jsonBody(KbChangeRequest)
const searchBody = jsonBody(KbSearchRequest, { bytesMax: KB_BODY_BYTES_MAX })
const CHUNKS_QUERY = queryDoc({ from: 'number of the first chunk shown, from 0; default 0' })
const SOURCE_QUERY = queryDoc({ source_id: 'id of a file or web page: its documents alone' })

export interface KbRouteOptions {
  readonly kb: Kb
  readonly access: Access
  readonly contexts: RequestContexts
  readonly answers: JsonAnswers
}

/** The knowledge base; the same on both surfaces. */
export const kbRoutes = (on: Gated, { kb, access, contexts, answers }: KbRouteOptions) =>
  on
    .get(
      '/kb/docs',
      async (context) => {
        const view = await viewIn(access, context)
        // Read before the answer's turn on the event loop, which it would hold for that long.
        const source = new URL(context.request.url).searchParams.get('source_id') || null
        const list = await kb.list(view, context.request.signal, source)
        return answers.respond(context, async () => list)
      },
      {
        allow: NOT_DEVICES,
        detail: {
          summary: 'List documents',
          parameters: [...COLLECTION_QUERY, ...SOURCE_QUERY],
          responses: jsonDoc(KbDocsResponse),
        },
      },
    )
    .post(
      '/kb/docs',
      async ({ principal, request, upload, server, set }) => {
        const body = await createBody.read(request, upload)
        contexts.note(request, { textChars: charCount(body.text.trim()) })
        // A small machine may embed for minutes.
        const collection = await access.target(principal, body.collection_id)
        const create = () => kb.create(principal.tenantId, { ...body, collection }, request.signal)
        const created = await withoutIdleTimeout(request, server, create)
        set.status = 201
        return created
      },
      {
        allow: NOT_DEVICES,
        parse: 'none',
        response: { 201: KbCreateResponse },
        detail: { summary: 'Add a document', requestBody: createBody.doc },
      },
    )
    .get('/kb/embedding', async ({ principal }) => kb.progress(await access.viewOf(principal)), {
      allow: NOT_DEVICES,
      response: KbProgress,
      detail: { summary: 'How many documents wait to be embedded' },
    })
    .get(
      '/kb/docs/:id',
      async ({ principal, params }) => kb.get(await access.viewOf(principal), params.id),
      {
        allow: NOT_DEVICES,
        response: KbDocResponse,
        detail: { summary: 'A document, and the passages at which its pages begin' },
      },
    )
    .get(
      '/kb/docs/:id/chunks',
      async ({ principal, params, request }) => {
        const from = new URL(request.url).searchParams.get('from') ?? '0'
        if (!/^\d{1,9}$/.test(from)) throw appError('query_invalid', { field: 'from' })
        return kb.chunks(await access.viewOf(principal), params.id, Number(from))
      },
      {
        allow: NOT_DEVICES,
        response: KbChunksResponse,
        detail: { summary: 'Preview the chunks of a document', parameters: CHUNKS_QUERY },
      },
    )
    .put(
      '/kb/docs/:id',
      async ({ principal, params, request, upload }) => {
        const { collection_id, title } = await changeBody.read(request, upload)
        const view = await access.viewOf(principal)
        const to = await access.destination(principal, collection_id)
        if (title !== undefined) await kb.rename(view, params.id, title)
        return kb.move(view, params.id, to)
      },
      {
        allow: NOT_DEVICES,
        parse: 'none',
        response: KbDoc,
        detail: {
          summary: 'Rename a document, or move it to a collection',
          requestBody: changeBody.doc,
        },
      },
    )
    .delete(
      '/kb/docs/:id',
      async ({ principal, params: { id } }) =>
        id.trim() === '' ? missingId() : kb.remove(await access.viewOf(principal), id),
      {
        allow: NOT_DEVICES,
        response: KbDeleteResponse,
        detail: { summary: 'Delete a document' },
      },
    )
    .delete('/kb/docs/', () => missingId(), { allow: NOT_DEVICES, detail: { hide: true } })
    .delete('/kb/docs', () => missingId(), { allow: NOT_DEVICES, detail: { hide: true } })
    .post(
      '/kb/search',
      async ({ principal, request, upload }) => {
        const { q, collections } = await searchBody.read(request, upload)
        contexts.note(request, { textChars: charCount(q) })
        const view = await access.narrow(await access.viewOf(principal), collections)
        return kb.search(view, q, request.signal)
      },
      {
        allow: EVERYONE,
        parse: 'none',
        response: KbSearchResponse,
        detail: { summary: 'Search the documents', requestBody: searchBody.doc },
      },
    )

function missingId(): never {
  throw appError('doc_id_missing')
}
