import { appError } from '../../core/errors.ts'
import { clampedLimit, sessionId } from '../../core/fields.ts'
import {
  SESSIONS_LIMIT_DEFAULT,
  SESSIONS_LIMIT_MAX,
  TRANSCRIPT_LIMIT_DEFAULT,
  TRANSCRIPT_LIMIT_MAX,
} from '../../core/limits/contract.ts'
import { EVERYONE, MANAGERS } from '../../core/principal.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gated } from '../../http/gate.ts'
import type { AnswerContext, JsonAnswers } from '../../http/json-answers.ts'
import { jsonDoc, queryDoc } from '../../http/openapi-parts.ts'
import { withoutIdleTimeout } from '../../http/request-limits.ts'
import type { Branches } from './branches.ts'
import { exportFormat, type SessionExport } from './export.ts'
import {
  BranchRequest,
  BranchResponse,
  HistoryResponse,
  SessionDeleteResponse,
  SessionListResponse,
  TranscriptResponse,
} from './model.ts'
import type { Sessions, Transcripts } from './service.ts'

const LIST_QUERY = queryDoc({
  limit: 'rows returned, 1 to 500; default 100',
  since: 'ISO 8601; only sessions active at or after it',
})

const TRANSCRIPT_READERS = EVERYONE.filter((kind) => kind !== 'device')

const REMOVAL_QUERY = queryDoc({ family: '1 forgets all versions of the session' })

const branch = jsonBody(BranchRequest)

const PAGE_QUERY = queryDoc({
  limit: 'turns returned, 1 to 100; default 50',
  before: 'next_before of the page before: turns with smaller numbers only',
})

const EXPORT_QUERY = queryDoc({ format: 'md, json or html; default md' })

const EXPORT_DOC = {
  200: {
    description: 'All turns with their times, sources and tools, oldest first, as an attachment',
    content: {
      'text/markdown': { schema: { type: 'string' as const } },
      'text/html': { schema: { type: 'string' as const } },
      'application/json': { schema: { type: 'object' as const } },
    },
  },
}

export interface SessionServices {
  readonly sessions: Sessions
  readonly transcripts: Transcripts
  readonly branches: Branches
  readonly answers: JsonAnswers
  readonly exportSession: SessionExport
}

/** Session index, history, transcript and deletion, on both surfaces. */
export const sessionRoutes = (on: Gated, services: SessionServices) => {
  const { sessions, transcripts, branches, answers, exportSession } = services
  const history = (context: AnswerContext, id: string) => {
    const session = sessionId(id)
    return answers.respond(context, () => sessions.history(context.principal, session))
  }
  const transcript = (context: AnswerContext, id: string) => {
    const session = sessionId(id)
    const query = new URL(context.request.url).searchParams
    const page = {
      before: numberBefore(query.get('before')),
      limit: clampedLimit(query.get('limit'), TRANSCRIPT_LIMIT_DEFAULT, TRANSCRIPT_LIMIT_MAX),
    }
    return answers.respond(context, () => transcripts.page(context.principal, session, page))
  }
  return (
    on
      .get(
        '/sessions',
        ({ principal, request }) => {
          const query = new URL(request.url).searchParams
          const limit = clampedLimit(query.get('limit'), SESSIONS_LIMIT_DEFAULT, SESSIONS_LIMIT_MAX)
          return sessions.list(principal, query.get('since') ?? '', limit)
        },
        {
          allow: MANAGERS,
          response: SessionListResponse,
          detail: { summary: 'List sessions, most recently active first', parameters: LIST_QUERY },
        },
      )
      .get('/sessions/:id/history', (context) => history(context, context.params.id), {
        allow: EVERYONE,
        detail: { summary: 'What a session remembers', responses: jsonDoc(HistoryResponse) },
      })
      .get('/sessions//history', (context) => history(context, ''), {
        allow: EVERYONE,
        detail: { hide: true },
      })
      .get('/sessions/:id/transcript', (context) => transcript(context, context.params.id), {
        allow: TRANSCRIPT_READERS,
        detail: {
          summary: 'What was said in a session, newest first, and how it was answered',
          parameters: PAGE_QUERY,
          responses: jsonDoc(TranscriptResponse),
        },
      })
      .get('/sessions//transcript', (context) => transcript(context, ''), {
        allow: TRANSCRIPT_READERS,
        detail: { hide: true },
      })
      .post(
        '/sessions/:id/branch',
        async ({ principal, params, request, upload, server, set }) => {
          const session = sessionId(params.id)
          const wanted = await branch.read(request, upload)
          // A long session takes seconds, and may wait for others.
          const made = await withoutIdleTimeout(request, server, () =>
            branches.branch(principal, session, wanted, request.signal),
          )
          set.status = 201
          return made
        },
        {
          allow: TRANSCRIPT_READERS,
          parse: 'none',
          response: { 201: BranchResponse },
          detail: {
            summary: 'Begin a new version of a session after one of its turns',
            requestBody: branch.doc,
          },
        },
      )
      .get(
        '/sessions/:id/export',
        (context) => {
          const { principal, params, request } = context
          const format = exportFormat(new URL(request.url).searchParams.get('format'))
          const id = sessionId(params.id)
          return answers.respondText(context, () => exportSession(principal, id, format))
        },
        {
          allow: TRANSCRIPT_READERS,
          detail: {
            summary: 'One conversation as a file',
            parameters: EXPORT_QUERY,
            responses: EXPORT_DOC,
          },
        },
      )
      // Also matches `/sessions/`: an empty id is the anonymous session.
      .delete(
        '/sessions/:id?',
        async ({ principal, params, request }) => {
          const session = sessionId(params.id)
          const isFamily = new URL(request.url).searchParams.get('family') === '1'
          return isFamily
            ? branches.removeAll(principal, session)
            : sessions.remove(principal, session)
        },
        {
          allow: MANAGERS,
          response: SessionDeleteResponse,
          detail: { summary: 'Forget a session', parameters: REMOVAL_QUERY },
        },
      )
  )
}

/** The number of a turn, from 1; without one, the newest turns are read. */
function numberBefore(value: string | null): number {
  if (value === null || value === '') return Number.MAX_SAFE_INTEGER
  if (!/^\d{1,15}$/.test(value)) throw appError('query_invalid', { field: 'before' })
  return Number(value)
}
