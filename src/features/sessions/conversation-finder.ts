import type { TurnIndex } from '../../storage/indexes.ts'
import type { Scope } from './access.ts'
import { excerptOf, type SearchTerm, searchTerms } from './conversation-search.ts'
import type {
  ConversationRow,
  ConversationStore,
  ListPosition,
  NumberedPlace,
  TurnText,
} from './conversation-store.ts'
import type { Conversation } from './model.ts'

export interface FinderOptions {
  readonly store: Pick<ConversationStore, 'places' | 'placesOf' | 'rows' | 'texts'>
  readonly index: TurnIndex
}

export interface FindQuery {
  readonly q: string
  readonly place: ListPosition | null
  /** Conversations of a page; one more is found where there are more. */
  readonly limit: number
}

export interface FoundConversation {
  readonly row: ConversationRow
  readonly match: Conversation['match']
}

/** The newest conversations, which fill the page when a term is common. */
const FIRST = 100
/** Conversations that later steps look at. */
const NEXT = 500
/** Of a rarer term, all turns that hold it are read: about 10 ms. */
const HOLDING_TURNS_MAX = 10_000
/** Turns whose texts one statement reads: each may have millions of characters. */
const TEXTS_AT_ONCE = 4

/** The conversations that hold all terms. */
async function holding(
  index: TurnIndex,
  tenantId: string,
  terms: readonly SearchTerm[],
  places: readonly NumberedPlace[],
  signal?: AbortSignal,
): Promise<readonly NumberedPlace[]> {
  let left = places
  for (const { words } of terms) {
    if (left.length === 0) break
    const nums = left.map(({ num }) => num)
    const held = new Set(await index.among(tenantId, words, nums, signal))
    left = left.filter(({ num }) => held.has(num))
  }
  return left
}

/** The conversations that hold the rarer terms, and the terms that are left to be looked for. */
async function byRareTerms(
  index: TurnIndex,
  tenantId: string,
  terms: readonly SearchTerm[],
  signal?: AbortSignal,
) {
  const common: SearchTerm[] = []
  let nums: Set<number> | null = null
  for (const [at, term] of terms.entries()) {
    if (nums && nums.size <= NEXT)
      return { nums: [...nums], common: [...common, ...terms.slice(at)] }
    const found = await index.holders(tenantId, term.words, HOLDING_TURNS_MAX, signal)
    if (found === null) common.push(term)
    else nums = nums === null ? new Set(found) : nums.intersection(new Set(found))
  }
  return { nums: nums && [...nums], common }
}

/** Finds conversations by the index of what was said. */
export function createConversationFinder({ store, index }: FinderOptions) {
  /**
   * The numbers of the conversations that hold all terms, in the order of the list. A common term
   * is in some of the newest conversations; a rare one leads to the few that hold it.
   */
  async function find(
    scope: Scope,
    { q, place, limit }: FindQuery,
    signal?: AbortSignal,
  ): Promise<number[]> {
    const { tenantId } = scope
    const found: number[] = []
    let terms = searchTerms(q)
    if (terms.length === 0) return found
    let after = place
    let source = (count: number) => store.places(scope, after, count, signal)
    for (let step = 0; ; step++) {
      if (step === 1) {
        const { nums, common } = await byRareTerms(index, tenantId, terms, signal)
        if (nums) {
          source = (count) => store.placesOf(scope, nums, after, count, signal)
          terms = common
        }
      }
      const count = step === 0 ? FIRST : NEXT
      const places = await source(count)
      for (const { num } of await holding(index, tenantId, terms, places, signal)) found.push(num)
      const last = places.at(-1)
      if (found.length > limit || places.length < count || !last) break
      after = last
    }
    return found.slice(0, limit + 1)
  }

  /** The texts of the turn of each conversation that holds most of the terms, by its id. */
  async function matchesOf(
    tenantId: string,
    terms: readonly SearchTerm[],
    rows: readonly { readonly id: string; readonly num: number }[],
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<string, TurnText>> {
    const ids = new Map(rows.map(({ num, id }) => [num, id]))
    const words = terms.map((term) => term.words)
    const best = await index.best(tenantId, words, [...ids.keys()], signal)
    const turns = best.map(({ num, seq }) => ({ id: ids.get(num) ?? '', seq }))
    const texts = new Map<string, TurnText>()
    for (let at = 0; at < turns.length; at += TEXTS_AT_ONCE) {
      const some = turns.slice(at, at + TEXTS_AT_ONCE)
      for (const text of await store.texts(tenantId, some, signal)) texts.set(text.id, text)
    }
    return texts
  }

  /** The conversations with these numbers, each with an excerpt of the turn that was found. */
  async function show(
    tenantId: string,
    q: string,
    nums: readonly number[],
    signal?: AbortSignal,
  ): Promise<FoundConversation[]> {
    if (nums.length === 0) return []
    const terms = searchTerms(q)
    const rows = await store.rows(tenantId, nums, signal)
    const texts = await matchesOf(tenantId, terms, rows, signal)
    return rows.map((row) => ({ row, match: matchOf(texts.get(row.id), terms) }))
  }

  return { find, show }
}

function matchOf(text: TurnText | undefined, terms: readonly SearchTerm[]) {
  if (!text) return null
  const { seq, user_text, reply } = text
  return { seq, excerpt: excerptOf(user_text, terms) ?? excerptOf(reply, terms) ?? '' }
}
