import { leastRecentlyUsed } from '../../core/lru.ts'
import type { FinishedTurn, Memory, SessionStore } from './store.ts'

/** UTF-16 units of text kept for the sessions in use; about twice as many bytes. */
const CACHED_UNITS_MAX = 8 * 1024 * 1024

/**
 * Keeps the memory of the sessions in use beside the store, because a conversation reads the same
 * rows at every turn. Everything that writes sessions goes through this one object, so an entry is
 * what the database holds: a write that overlaps another use of its session drops the entry instead
 * of guessing at the order.
 */
export function cacheSessions(store: SessionStore): SessionStore {
  const entries = leastRecentlyUsed(CACHED_UNITS_MAX, unitsOf)
  const writing = new Map<string, number>()

  /** Does one write; `after` may keep the entry when no other write ran beside it. */
  async function write<Result>(
    name: string,
    work: () => Promise<Result>,
    after: (entry: Memory, result: Result) => Memory | null,
  ): Promise<Result> {
    const entry = entries.get(name)
    const alone = !writing.has(name)
    writing.set(name, (writing.get(name) ?? 0) + 1)
    let kept: Memory | null = null
    try {
      const result = await work()
      const untouched = alone && writing.get(name) === 1 && entries.get(name) === entry
      kept = untouched && entry ? after(entry, result) : null
      return result
    } finally {
      const left = (writing.get(name) ?? 1) - 1
      if (left > 0) writing.set(name, left)
      else writing.delete(name)
      if (kept) entries.put(name, kept)
      else entries.drop(name)
    }
  }

  return {
    ...store,

    async memory(tenantId, id) {
      const name = nameOf(tenantId, id)
      const known = entries.get(name)
      if (known) return known
      const memory = await store.memory(tenantId, id)
      if (memory && !writing.has(name)) entries.put(name, memory)
      return memory
    },

    append: (turn) =>
      write(
        nameOf(turn.tenantId, turn.sessionId),
        () => store.append(turn),
        (entry) => extended(entry, turn),
      ),

    fold: (tenantId, id, was, last, summary) =>
      write(
        nameOf(tenantId, id),
        () => store.fold(tenantId, id, was, last, summary),
        (entry, done) => (done ? folded(entry, last.seq, summary) : null),
      ),

    remove: (tenantId, id) =>
      write(
        nameOf(tenantId, id),
        () => store.remove(tenantId, id),
        () => null,
      ),
  }
}

const nameOf = (tenantId: string, id: string) => `${tenantId}/${id}`

/** Numbered as the store numbers it. */
function extended({ summary, foldedThrough, turns }: Memory, turn: FinishedTurn): Memory {
  const seq = 1 + Math.max(foldedThrough, turns.at(-1)?.seq ?? 0)
  const added = { seq, user_text: turn.userText, reply: turn.reply, created_at: turn.at }
  return { summary, foldedThrough, turns: [...turns, added] }
}

function folded(entry: Memory, through: number, summary: string): Memory {
  const turns = entry.turns.filter(({ seq }) => seq > through)
  return { summary, foldedThrough: through, turns }
}

function unitsOf({ summary, turns }: Memory): number {
  return turns.reduce(
    (sum, turn) => sum + turn.user_text.length + turn.reply.length,
    summary.length,
  )
}
