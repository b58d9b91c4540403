import { appError } from '../../core/errors.ts'
import { CONVERSATION_TITLE_CHARS_MAX } from '../../core/limits/contract.ts'
import { createSemaphore } from '../../core/semaphore.ts'
import { firstChars, inOneLine } from '../../core/text.ts'
import { type SearchTerm, searchTerms } from './conversation-search.ts'
import type { ConversationRow, ConversationStore, Part, Place } from './conversation-store.ts'
import type { Conversation, ConversationListResponse } from './model.ts'

/** Conversations that a search takes at a time, and turns that one of its statements reads. */
const CONVERSATIONS_AT_ONCE = 100
const TURNS_AT_ONCE = 500

export interface ConversationQuery {
  /** What to look for; empty lists all. */
  readonly q: string
  readonly place: Place | null
  readonly limit: number
}

/**
 * The conversations of a tenant with their titles, for people (contract-2, section 8). A search
 * reads what was said, newest first, and stops when its page is full.
 */
export function createConversations({ store }: { store: ConversationStore }) {
  /** One search at a time for each tenant. */
  const inTurn = createSemaphore({ perKey: 1 }).run

  /** Those of the conversations that hold all terms. */
  async function holding(
    tenantId: string,
    terms: readonly SearchTerm[],
    rows: readonly ConversationRow[],
    signal?: AbortSignal,
  ): Promise<ConversationRow[]> {
    const missing = new Map(rows.map(({ id }) => [id, new Set(terms.keys())]))
    for (const parts of statementsOf(rows)) {
      const open = parts.filter(({ id }) => missing.get(id)?.size)
      if (open.length === 0) continue
      for (const { id, places } of await store.termsIn(tenantId, terms, open, signal)) {
        for (const place of places) missing.get(id)?.delete(place)
      }
    }
    return rows.filter(({ id }) => missing.get(id)?.size === 0)
  }

  /** One more than the page has, where there are more. */
  async function search(tenantId: string, query: ConversationQuery, signal?: AbortSignal) {
    const terms = searchTerms(query.q)
    const found: ConversationRow[] = []
    let { place } = query
    while (terms.length > 0 && found.length <= query.limit) {
      const rows = await store.list(tenantId, place, CONVERSATIONS_AT_ONCE)
      found.push(...(await holding(tenantId, terms, rows, signal)))
      const last = rows.at(-1)
      if (!last || rows.length < CONVERSATIONS_AT_ONCE) break
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

/** What each statement reads: the turns of several conversations, or some of a long one. */
function statementsOf(rows: readonly ConversationRow[]): Part[][] {
  const statements: Part[][] = []
  let room = 0
  for (const { id, first_seq, last_seq } of rows) {
    for (let to = last_seq ?? 0; to >= (first_seq ?? 1); to -= TURNS_AT_ONCE) {
      const from = Math.max(first_seq ?? 1, to - TURNS_AT_ONCE + 1)
      const turns = to - from + 1
      if (turns > room) {
        statements.push([])
        room = TURNS_AT_ONCE
      }
      statements.at(-1)?.push({ id, from, to })
      room -= turns
    }
  }
  return statements
}
