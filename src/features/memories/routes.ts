import { clampedLimit } from '../../core/fields.ts'
import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX } from '../../core/limits/contract.ts'
import { MANAGERS, type PrincipalKind } from '../../core/principal.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gated } from '../../http/gate.ts'
import { queryDoc } from '../../http/openapi-parts.ts'
import { type PersonLimit, withoutIdleTimeout } from '../../http/request-limits.ts'
import { clientOf, type Sse } from '../../http/sse.ts'
import {
  MemoriesDeleted,
  Memory,
  MemoryChange,
  MemoryDeleted,
  MemoryListResponse,
  MemoryRequest,
  SubjectsResponse,
  SuggestRequest,
  SuggestResponse,
} from './model.ts'
import type { Memories } from './service.ts'
import type { Suggest } from './suggest.ts'

const READERS: readonly PrincipalKind[] = ['general', 'app', 'session']

const body = jsonBody(MemoryRequest)
const changeBody = jsonBody(MemoryChange)
const suggestBody = jsonBody(SuggestRequest)

const QUERY = queryDoc({
  subject: 'whose facts; keys must say, in the console absent means your own',
  app_id: 'only facts of this app',
  q: 'orders by likeness to this text',
  limit: 'facts returned, 1 to 200; default 50',
  before: 'next_before of the page before',
})
const SUBJECT_QUERY = queryDoc({ subject: 'whose facts; required' })
const APP_QUERY = queryDoc({ app_id: 'only facts of this app' })

/** What a route tells the audit, whose hook sees the request and its answer. */
export interface MemoryAudit {
  /** The target of the line. */
  readonly tell: (request: Request, target: string) => void
  /** The request gets no line. */
  readonly spare: (request: Request) => void
}

/** What is remembered of those who talk with assistants, on both surfaces. */
export const memoryRoutes = (on: Gated, memories: Memories, audit: MemoryAudit) =>
  on
    .get(
      '/memories',
      ({ principal, request }) => {
        const query = new URL(request.url).searchParams
        return memories.list(principal, {
          subject: query.get('subject'),
          appId: query.get('app_id') || null,
          q: query.get('q')?.trim() ?? '',
          before: query.get('before') || null,
          limit: clampedLimit(query.get('limit'), LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX),
        })
      },
      {
        allow: READERS,
        response: MemoryListResponse,
        detail: { summary: 'What is remembered of a subject, newest first', parameters: QUERY },
      },
    )
    .get(
      '/memories/subjects',
      ({ principal, request }) =>
        memories.subjects(principal, new URL(request.url).searchParams.get('app_id') || null),
      {
        allow: MANAGERS,
        response: SubjectsResponse,
        detail: { summary: 'Of whom how much is remembered', parameters: APP_QUERY },
      },
    )
    .post(
      '/memories',
      async ({ principal, request, upload, set }) => {
        const { memory, isNew } = await memories.create(principal, await body.read(request, upload))
        set.status = isNew ? 201 : 200
        return memory
      },
      {
        allow: READERS,
        parse: 'none',
        response: { 200: Memory, 201: Memory },
        detail: { summary: 'Remember a fact', requestBody: body.doc },
      },
    )
    .put(
      '/memories/:id',
      async ({ principal, params, request, upload }) =>
        memories.replace(principal, params.id, await changeBody.read(request, upload)),
      {
        allow: READERS,
        parse: 'none',
        response: Memory,
        detail: { summary: 'Replace a remembered fact', requestBody: changeBody.doc },
      },
    )
    .delete(
      '/memories/:id',
      async ({ principal, params, request }) => {
        const { isOwn } = await memories.remove(principal, params.id)
        if (isOwn) audit.spare(request)
        return { id: params.id, deleted: true as const }
      },
      {
        allow: READERS,
        response: MemoryDeleted,
        detail: { summary: 'Forget a fact' },
      },
    )
    .delete(
      '/memories',
      async ({ principal, request }) => {
        const given = new URL(request.url).searchParams.get('subject')
        const { deleted, subject, isOwn } = await memories.removeAll(principal, given)
        if (isOwn) audit.spare(request)
        else audit.tell(request, subject)
        return { deleted }
      },
      {
        allow: READERS,
        response: MemoriesDeleted,
        detail: { summary: 'Forget all facts of a subject', parameters: SUBJECT_QUERY },
      },
    )

export interface SuggestRouteOptions {
  readonly suggest: Suggest
  readonly sse: Sse
  readonly studioLimit: PersonLimit
}

/** POST /console/memories/suggest: facts that a person may want to be remembered. */
export const suggestRoutes = (on: Gated, { suggest, sse, studioLimit }: SuggestRouteOptions) =>
  on.post(
    '/memories/suggest',
    async ({ principal, request, upload, server }) => {
      await studioLimit(principal)
      const { session_id } = await suggestBody.read(request, upload)
      const client = clientOf(principal, request, server)
      return withoutIdleTimeout(request, server, () =>
        sse.whole(client, async (signal) => ({
          suggestions: await suggest(principal, session_id, signal),
        })),
      )
    },
    {
      allow: ['session'],
      parse: 'none',
      response: SuggestResponse,
      detail: {
        summary: 'Facts in a conversation that could be remembered; nothing is stored',
        requestBody: suggestBody.doc,
      },
    },
  )
