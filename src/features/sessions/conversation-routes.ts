import { appError } from '../../core/errors.ts'
import { clampedLimit, sessionId } from '../../core/fields.ts'
import {
  CONVERSATION_QUERY_CHARS_MAX,
  CONVERSATIONS_LIMIT_DEFAULT,
  CONVERSATIONS_LIMIT_MAX,
} from '../../core/limits/contract.ts'
import { MANAGERS } from '../../core/principal.ts'
import { charCount } from '../../core/text.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gated } from '../../http/gate.ts'
import { queryDoc } from '../../http/openapi-parts.ts'
import { KINDS, type Kind, scopeOf } from './access.ts'
import type { Branches } from './branches.ts'
import type { ListPosition } from './conversation-store.ts'
import type { ConversationQuery, Conversations } from './conversations.ts'
import {
  Conversation,
  ConversationListResponse,
  ConversationRequest,
  VersionsResponse,
} from './model.ts'

const LIST_QUERY = queryDoc({
  q: 'words or their beginnings in titles and texts, 1 to 200 characters; none: all conversations',
  limit: 'conversations returned, 1 to 100; default 50',
  before: 'next_before of the page before',
  of: 'one kind: mine, website, devices or api; for viewers mine alone',
  folder: 'only conversations of this folder',
  archived: 'true: archived ones alone; else they are found by q alone',
  app_id: 'only those that this app answered last',
  device_id: 'only those of this device',
})

const change = jsonBody(ConversationRequest)

/** Conversations with titles and search; `/sessions` has only the metadata of sessions. */
export const conversationRoutes = (on: Gated, conversations: Conversations, branches: Branches) =>
  on
    .get(
      '/conversations',
      async ({ principal, request }) => {
        const { kind, ...query } = queryOf(request)
        return conversations.list(scopeOf(principal, kind), query, request.signal)
      },
      {
        allow: MANAGERS,
        response: ConversationListResponse,
        detail: {
          summary: 'List conversations with their titles, most recently active first',
          parameters: LIST_QUERY,
        },
      },
    )
    .get(
      '/conversations/:id/versions',
      ({ principal, params }) => branches.versions(principal, sessionId(params.id)),
      {
        allow: MANAGERS,
        response: VersionsResponse,
        detail: { summary: 'List the versions of a conversation' },
      },
    )
    .put(
      '/conversations/:id',
      async ({ principal, params, request, upload }) => {
        const id = sessionId(params.id)
        const input = await change.read(request, upload)
        return conversations.change(principal, id, input)
      },
      {
        allow: MANAGERS,
        parse: 'none',
        response: Conversation,
        detail: {
          summary:
            'Name, file, pin or archive a conversation; a blank title gives it back its first text',
          requestBody: change.doc,
        },
      },
    )

function queryOf({ url }: Request): ConversationQuery & { readonly kind: Kind | null } {
  const query = new URL(url).searchParams
  const q = query.get('q')?.trim() ?? ''
  if (charCount(q) > CONVERSATION_QUERY_CHARS_MAX) throw appError('query_invalid', { field: 'q' })
  return {
    kind: kindOf(query.get('of')),
    q,
    marks: {
      folder: query.get('folder'),
      archived: archivedIn(query.get('archived'), q),
      appId: query.get('app_id'),
      deviceId: query.get('device_id'),
    },
    place: placeOf(query.get('before')),
    limit: clampedLimit(query.get('limit'), CONVERSATIONS_LIMIT_DEFAULT, CONVERSATIONS_LIMIT_MAX),
  }
}

/** Null: both. */
function archivedIn(given: string | null, q: string): boolean | null {
  if (given === null || given === '') return q === '' ? false : null
  if (given !== 'true' && given !== 'false') {
    throw appError('query_invalid', { field: 'archived' })
  }
  return given === 'true'
}

/** `!` marks a place among the pinned ones, which come first. */
const PLACE = /^(!?)(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)(.*)$/s

/** Parses `next_before`: a time and the id of a conversation. A time alone is accepted, too. */
function placeOf(before: string | null): ListPosition | null {
  if (before === null || before === '') return null
  const [, pinned, lastAt, id] = PLACE.exec(before) ?? []
  if (lastAt === undefined) throw appError('query_invalid', { field: 'before' })
  return { lastAt, id: id || null, pinned: pinned === '!' }
}

function kindOf(word: string | null): Kind | null {
  if (word === null || word === '') return null
  if (!Object.hasOwn(KINDS, word)) throw appError('query_invalid', { field: 'of' })
  return word as Kind
}
