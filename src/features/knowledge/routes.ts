import { Elysia } from 'elysia'
import { appError } from '../../core/errors.ts'
import { KB_BODY_BYTES_MAX } from '../../core/limits/machine.ts'
import { EVERYONE, type PrincipalKind } from '../../core/principal.ts'
import { charCount } from '../../core/text.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gate } from '../../http/gate.ts'
import type { JsonAnswers } from '../../http/json-answers.ts'
import type { RequestContexts } from '../../http/observe.ts'
import { jsonDoc, queryDoc } from '../../http/openapi-parts.ts'
import { withoutIdleTimeout } from '../../http/request-limits.ts'
import {
  KbChunksResponse,
  KbCreateRequest,
  KbCreateResponse,
  KbDeleteResponse,
  KbDocsResponse,
  KbProgress,
  KbSearchRequest,
  KbSearchResponse,
} from './model.ts'
import type { Kb } from './service.ts'

const createBody = jsonBody(KbCreateRequest, { bytesMax: KB_BODY_BYTES_MAX })
const searchBody = jsonBody(KbSearchRequest, { bytesMax: KB_BODY_BYTES_MAX })
const CHUNKS_QUERY = queryDoc({ from: 'number of the first chunk shown, from 0; default 0' })

/** A device key may only search. */
const NOT_DEVICES: readonly PrincipalKind[] = ['general', 'app', 'session']

/** The knowledge base; the same on both surfaces. */
export const kbRoutes = (gate: Gate, kb: Kb, contexts: RequestContexts, answers: JsonAnswers) =>
  new Elysia()
    .use(gate)
    .get(
      '/kb/docs',
      (context) => answers.respond(context, () => kb.list(context.principal.tenantId)),
      {
        allow: NOT_DEVICES,
        detail: { summary: 'List documents', responses: jsonDoc(KbDocsResponse) },
      },
    )
    .post(
      '/kb/docs',
      async ({ principal, request, upload, server, set }) => {
        const body = await createBody.read(request, upload)
        contexts.note(request, { textChars: charCount(body.text.trim()) })
        // A small machine may embed for minutes.
        const create = () => kb.create(principal.tenantId, body, request.signal)
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
    .get('/kb/embedding', ({ principal }) => kb.progress(principal.tenantId), {
      allow: NOT_DEVICES,
      response: KbProgress,
      detail: { summary: 'How many documents wait to be embedded' },
    })
    .get(
      '/kb/docs/:id/chunks',
      ({ principal, params, request }) => {
        const from = new URL(request.url).searchParams.get('from') ?? '0'
        if (!/^\d{1,9}$/.test(from)) throw appError('query_invalid', { field: 'from' })
        return kb.chunks(principal.tenantId, params.id, Number(from))
      },
      {
        allow: NOT_DEVICES,
        response: KbChunksResponse,
        detail: { summary: 'Preview the chunks of a document', parameters: CHUNKS_QUERY },
      },
    )
    .delete('/kb/docs/:id', ({ principal, params }) => kb.remove(principal.tenantId, params.id), {
      allow: NOT_DEVICES,
      response: KbDeleteResponse,
      detail: { summary: 'Delete a document' },
    })
    .delete('/kb/docs/', () => missingId(), { allow: NOT_DEVICES, detail: { hide: true } })
    .delete('/kb/docs', () => missingId(), { allow: NOT_DEVICES, detail: { hide: true } })
    .post(
      '/kb/search',
      async ({ principal, request, upload }) => {
        const { q } = await searchBody.read(request, upload)
        contexts.note(request, { textChars: charCount(q) })
        return kb.search(principal.tenantId, q, request.signal)
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
