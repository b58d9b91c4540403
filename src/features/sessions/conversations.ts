import { appError } from '../../core/errors.ts'
import { CONVERSATION_TITLE_CHARS_MAX } from '../../core/limits/contract.ts'
import type { Principal } from '../../core/principal.ts'
import { createSemaphore } from '../../core/semaphore.ts'
import { firstChars, inOneLine } from '../../core/text.ts'
import type { TurnIndex } from '../../storage/indexes.ts'
import { isSeen, type Scope } from './access.ts'
import { createConversationFinder } from './conversation-finder.ts'
import type { ConversationRow, ConversationStore, ListPosition } from './conversation-store.ts'
import type { Conversation, ConversationListResponse } from './model.ts'

export interface ConversationQuery {
  /** The query; empty lists all conversations. */
  readonly q: string
  readonly place: ListPosition | null
  readonly limit: number
}

export interface ConversationsOptions {
  readonly store: ConversationStore
  readonly index: TurnIndex
}

/** The conversations of a tenant with their titles, for people. */
export function createConversations({ store, index }: ConversationsOptions) {
  const finder = createConversationFinder({ store, index })
  /** One search at a time for each tenant. */
  const inTurn = createSemaphore({ perKey: 1 }).run

  return {
    /** Most recently active first. Rejects with the signal's reason when it aborts. */
    async list(
      scope: Scope,
      query: ConversationQuery,
      signal?: AbortSignal,
    ): Promise<ConversationListResponse> {
      const { q, place, limit } = query
      const find = async () => {
        const nums = await finder.find(scope, query, signal)
        const shown = await finder.show(scope.tenantId, q, nums.slice(0, limit), signal)
        return { shown, isLast: nums.length <= limit }
      }
      const browse = async () => {
        const rows = await store.list(scope, place, limit + 1)
        const shown = rows.slice(0, limit).map((row) => ({ row, match: undefined }))
        return { shown, isLast: rows.length <= limit }
      }
      const { shown, isLast } = await (q === '' ? browse() : inTurn(scope.tenantId, find, signal))
      const last = isLast ? undefined : shown.at(-1)?.row
      return {
        conversations: shown.map(({ row, match }) =>
          match === undefined ? conversationOf(row) : { ...conversationOf(row), match },
        ),
        next_before: last ? last.last_at + last.id : null,
      }
    },

    /** Throws `not_found`. */
    async read(principal: Principal, id: string): Promise<Conversation> {
      const row = await store.read(principal.tenantId, id)
      if (!row || !isSeen(principal, row.user_id)) throw appError('not_found', { what: 'session' })
      return conversationOf(row)
    },

    /** The title that people see; empty for an unknown conversation. */
    async titleOf(tenantId: string, id: string): Promise<string> {
      const row = await store.read(tenantId, id)
      return row ? conversationOf(row).title : ''
    },

    /** Gives a conversation a title; a blank one removes it. Throws `not_found`. */
    async rename(principal: Principal, id: string, title: string): Promise<Conversation> {
      const { tenantId } = principal
      const before = await store.read(tenantId, id)
      if (!isSeen(principal, before?.user_id)) throw appError('not_found', { what: 'session' })
      await store.rename(tenantId, id, title || null)
      const row = await store.read(tenantId, id)
      if (!row) throw appError('not_found', { what: 'session' })
      return conversationOf(row)
    },
  }
}

export type Conversations = ReturnType<typeof createConversations>

function conversationOf({ named, first_text, ...row }: ConversationRow): Conversation {
  const { id, turn_count, last_at, app_id, device_id } = row
  const title = named ?? firstChars(inOneLine(first_text ?? ''), CONVERSATION_TITLE_CHARS_MAX)
  return { id, title, turn_count, last_at, app_id, device_id }
}
