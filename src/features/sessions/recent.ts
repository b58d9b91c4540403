import { leastRecentlyUsed } from '../../core/bounded-maps.ts'
import { GONE } from './access.ts'
import type { FinishedTurn, Memory, SessionStore, StoredTurn } from './store.ts'

/** UTF-16 units of text that are cached of active sessions; about twice as many bytes. */
const RECENT_UNITS_MAX = 8 * 1024 * 1024

/** The cached memory of a session, updated with its changes. */
interface Kept {
  memory: Memory
}

/**
 * Adds a cache of active sessions to the store: every turn reads the rows that the previous turn
 * has just written. All writes of sessions go through this object. A turn and a fold update the
 * entry of their session, also when they are written at the same time; every other write, and one
 * that fails, drops it.
 */
export function keepRecent(store: SessionStore): SessionStore {
  const open = () => leastRecentlyUsed<Kept>(RECENT_UNITS_MAX, ({ memory }) => unitsOf(memory))
  let recent = open()

  async function change<Result>(
    name: string,
    write: () => Promise<Result>,
    changed: (before: Memory, result: Result) => Memory | null,
  ): Promise<Result> {
    const kept = recent.get(name)
    let after: Memory | null = null
    try {
      const result = await write()
      // Read again meanwhile, it may hold this write already.
      if (kept && recent.get(name) === kept) after = changed(kept.memory, result)
      return result
    } finally {
      if (kept && after) {
        kept.memory = after
        recent.put(name, kept)
      } else {
        recent.drop(name)
      }
    }
  }

  return {
    ...store,

    async memory(tenantId, id) {
      const name = nameOf(tenantId, id)
      const kept = recent.get(name)
      if (kept) return kept.memory
      const memory = await store.memory(tenantId, id)
      // The name of one that is being deleted is soon another's.
      if (memory && memory.owner !== GONE) recent.put(name, { memory })
      return memory
    },

    async appendTurn(turn) {
      const { tenantId, sessionId } = turn
      let seq: number | null = null
      await change(
        nameOf(tenantId, sessionId),
        () => store.writeTurn(turn),
        (before) => {
          const after = extended(before, turn)
          seq = after.turns.at(-1)?.seq ?? null
          return after
        },
      )
      return seq ?? store.newestTurn(tenantId, sessionId)
    },

    fold: (tenantId, id, was, last, summary) =>
      change(
        nameOf(tenantId, id),
        () => store.fold(tenantId, id, was, last, summary),
        (before, isFolded) => (isFolded ? folded(before, last, summary) : null),
      ),

    remove(tenantId, id) {
      const drop = () => recent.drop(nameOf(tenantId, id))
      return store.remove(tenantId, id, drop).finally(drop)
    },

    forget() {
      recent = open()
    },
  }
}

const nameOf = (tenantId: string, id: string) => `${tenantId}/${id}`

/** The memory after `turn`, which gets the number that the store gives it. */
function extended(before: Memory, turn: FinishedTurn): Memory {
  const { summary, foldedThrough, owner } = before
  const hasFiles = before.hasFiles || turn.hasFiles === true
  const turns = before.turns.filter(({ seq }) => seq !== turn.replaces?.seq)
  const seq = 1 + Math.max(foldedThrough, turns.at(-1)?.seq ?? 0)
  const { appId: app_id, userText: user_text, reply, at: created_at } = turn
  const added = { seq, app_id, user_text, reply, created_at }
  return { summary, foldedThrough, turns: [...turns, added], owner, hasFiles }
}

const folded = ({ turns, owner, hasFiles }: Memory, last: StoredTurn, summary: string): Memory => ({
  summary,
  foldedThrough: last.seq,
  turns: turns.filter(({ seq }) => seq > last.seq),
  owner,
  hasFiles: hasFiles === true,
})

/** Size of a cached turn besides its text, in UTF-16 units. */
const TURN_UNITS = 128

function unitsOf({ summary, turns }: Memory): number {
  let units = TURN_UNITS + summary.length
  for (const { user_text, reply } of turns) units += TURN_UNITS + user_text.length + reply.length
  return units
}
