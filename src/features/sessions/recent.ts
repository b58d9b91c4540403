import { leastRecentlyUsed } from '../../core/bounded-maps.ts'
import type { FinishedTurn, Memory, SessionStore } from './store.ts'

/** UTF-16 units of text kept of the sessions in use; about twice as many bytes. */
const RECENT_UNITS_MAX = 8 * 1024 * 1024

/**
 * The same store, which keeps what it read of the sessions in use: every turn asks for rows that
 * the turn before has just written. All writes of sessions go through this object, and each one
 * drops what is kept of its session. Only a turn that was added to what is still kept, so that no
 * other write came between, is added here, too.
 */
export function keepRecent(store: SessionStore): SessionStore {
  const recent = leastRecentlyUsed<Memory>(RECENT_UNITS_MAX, unitsOf)

  return {
    ...store,

    async memory(tenantId, id) {
      const name = nameOf(tenantId, id)
      const known = recent.get(name)
      if (known) return known
      const memory = await store.memory(tenantId, id)
      if (memory) recent.put(name, memory)
      return memory
    },

    async appendTurn(turn) {
      const name = nameOf(turn.tenantId, turn.sessionId)
      const before = recent.get(name)
      let after: Memory | null = null
      try {
        await store.appendTurn(turn)
        if (before && recent.get(name) === before) after = extended(before, turn)
      } finally {
        if (after) recent.put(name, after)
        else recent.drop(name)
      }
    },

    fold: (tenantId, id, ...change) =>
      store.fold(tenantId, id, ...change).finally(() => recent.drop(nameOf(tenantId, id))),

    remove: (tenantId, id) =>
      store.remove(tenantId, id).finally(() => recent.drop(nameOf(tenantId, id))),
  }
}

const nameOf = (tenantId: string, id: string) => `${tenantId}/${id}`

/** Numbered as the store numbers it. */
function extended({ summary, foldedThrough, turns }: Memory, turn: FinishedTurn): Memory {
  const seq = 1 + Math.max(foldedThrough, turns.at(-1)?.seq ?? 0)
  const added = { seq, user_text: turn.userText, reply: turn.reply, created_at: turn.at }
  return { summary, foldedThrough, turns: [...turns, added] }
}

/** What a turn takes besides its text. */
const TURN_UNITS = 128

const unitsOf = ({ summary, turns }: Memory): number =>
  turns.reduce(
    (sum, turn) => sum + TURN_UNITS + turn.user_text.length + turn.reply.length,
    TURN_UNITS + summary.length,
  )
