import { appError } from '../../core/errors.ts'
import { CONVERSATION_TITLE_CHARS_MAX } from '../../core/limits/contract.ts'
import { createSemaphore } from '../../core/semaphore.ts'
import { firstChars, inOneLine } from '../../core/text.ts'
import { excerptOf, type SearchTerm, searchTerms } from './conversation-search.ts'
import type {
  ConversationRow,
  ConversationStore,
  FoundTurn,
  ListPosition,
  TurnRange,
} from './conversation-store.ts'
import type { Conversation, ConversationListResponse } from './model.ts'

/** Conversations that a search reads at a time, and turns that one of its statements reads. */
const CONVERSATIONS_AT_ONCE = 100
const TURNS_AT_ONCE = 500

export interface ConversationQuery {
  /** The query; empty lists all conversations. */
  readonly q: string
  readonly place: ListPosition | null
  readonly limit: number
}

/** Searches the texts of turns, newest first, until a page is full. */
function createFinder(store: ConversationStore) {
  /** The conversations that hold all terms. */
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

  /** The results of a page, and one more when there are more. */
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

  /** The turn of the conversation that holds most of the terms. */
  async function matchIn(
    tenantId: string,
    terms: readonly SearchTerm[],
    row: ConversationRow,
    signal?: AbortSignal,
  ): Promise<Conversation['match']> {
    let best: FoundTurn | null = null
    for (const part of partsOf(row)) {
      const turn = await store.turnIn(tenantId, terms, part, signal)
      if (turn && turn.held > (best?.held ?? 0)) best = turn
      if (best?.held === terms.length) break
    }
    if (!best) return null
    const { seq, user_text, reply } = best
    return { seq, excerpt: excerptOf(user_text, terms) ?? excerptOf(reply, terms) ?? '' }
  }

  /** Adds to each result the turn in which it was found. */
  async function withMatches(
    tenantId: string,
    q: string,
    rows: readonly ConversationRow[],
    signal?: AbortSignal,
  ): Promise<Conversation[]> {
    const terms = searchTerms(q)
    const found: Conversation[] = []
    for (const row of rows) {
      const match = await matchIn(tenantId, terms, row, signal)
      found.push({ ...conversationOf(row), match })
    }
    return found
  }

  return { search, withMatches }
}

/**
 * The conversations of a tenant with their titles, for people (contract-2, section 8). A search
 * reads the texts of turns, newest first, and stops when its page is full.
 */
export function createConversations({ store }: { store: ConversationStore }) {
  const { search, withMatches } = createFinder(store)
  /** One search at a time for each tenant. */
  const inTurn = createSemaphore({ perKey: 1 }).run

  return {
    /** Most recently active first. Rejects with the signal's reason when it aborts. */
    async list(
      tenantId: string,
      query: ConversationQuery,
      signal?: AbortSignal,
    ): Promise<ConversationListResponse> {
      const { q, place, limit } = query
      const page = (rows: readonly ConversationRow[]) => {
        const shown = rows.slice(0, limit)
        const last = rows.length > limit ? shown.at(-1) : undefined
        return { shown, next_before: last ? last.last_at + last.id : null }
      }
      if (q === '') {
        const { shown, next_before } = page(await store.list(tenantId, place, limit + 1))
        return { conversations: shown.map(conversationOf), next_before }
      }
      const find = async () => {
        const { shown, next_before } = page(await search(tenantId, query, signal))
        return { conversations: await withMatches(tenantId, q, shown, signal), next_before }
      }
      return inTurn(tenantId, find, signal)
    },

    /** Gives a conversation a title; a blank one removes it. Throws `not_found`. */
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

/** The parts that each statement reads: several conversations, or turns of a long one. */
function statementsOf(rows: readonly ConversationRow[]): TurnRange[][] {
  const statements: TurnRange[][] = []
  let room = 0
  for (const part of rows.flatMap(partsOf)) {
    const turns = part.to - part.from + 1
    if (turns > room) {
      statements.push([])
      room = TURNS_AT_ONCE
    }
    statements.at(-1)?.push(part)
    room -= turns
  }
  return statements
}

/** The turns of a conversation in parts for one statement each, the newest first. */
function partsOf({ id, first_seq, last_seq }: ConversationRow): TurnRange[] {
  const parts: TurnRange[] = []
  for (let to = last_seq ?? 0; to >= (first_seq ?? 1); to -= TURNS_AT_ONCE) {
    parts.push({ id, from: Math.max(first_seq ?? 1, to - TURNS_AT_ONCE + 1), to })
  }
  return parts
}
