import { appError } from '../../core/errors.ts'
import { CONVERSATION_TITLE_CHARS_MAX } from '../../core/limits/contract.ts'
import { createSemaphore } from '../../core/semaphore.ts'
import { firstChars, inOneLine } from '../../core/text.ts'
import { searchTerms } from './conversation-search.ts'
import type { ConversationRow, ConversationStore, Place } from './conversation-store.ts'
import type { Conversation, ConversationListResponse } from './model.ts'

/** Conversations that one statement of a search looks through. */
const SLICE = 100

export interface ConversationQuery {
  /** What to look for; empty lists all. */
  readonly q: string
  readonly place: Place | null
  readonly limit: number
}

/**
 * The conversations of a tenant with their titles, for people (contract-2, section 8). A search
 * reads what was said, slice by slice and newest first, and stops when its page is full.
 */
export function createConversations({ store }: { store: ConversationStore }) {
  /** One search at a time for each tenant. */
  const inTurn = createSemaphore({ perKey: 1 }).run

  /** One more than the page has, where there are more. */
  async function search(tenantId: string, query: ConversationQuery, signal?: AbortSignal) {
    const terms = searchTerms(query.q)
    if (terms.length === 0) return []
    const found: ConversationRow[] = []
    for (let { place } = query; found.length <= query.limit; ) {
      const slice = await store.searched(tenantId, terms, { place, limit: SLICE }, signal)
      found.push(...slice.filter((row) => row.found === 1))
      const last = slice.at(-1)
      if (!last || slice.length < SLICE) break
      place = { lastAt: last.last_at, id: last.id }
    }
    return found
  }

  return {
    /** Most recently active first. Rejects with the signal's reason when it aborts. */
    async list(
      tenantId: string,
      query: ConversationQuery,
      signal?: AbortSignal,
    ): Promise<ConversationListResponse> {
      const { q, place, limit } = query
      const rows =
        q === ''
          ? await store.list(tenantId, place, limit + 1)
          : await inTurn(tenantId, () => search(tenantId, query, signal), signal)
      const shown = rows.slice(0, limit)
      const last = rows.length > limit ? shown.at(-1) : undefined
      const next_before = last ? last.last_at + last.id : null
      return { conversations: shown.map(conversationOf), next_before }
    },

    /** Gives a conversation a title; a blank one takes it back. Throws `not_found`. */
    async rename(tenantId: string, id: string, title: string): Promise<Conversation> {
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
