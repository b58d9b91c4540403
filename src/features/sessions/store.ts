import { leastRecentlyUsed } from '../../core/bounded-maps.ts'
import {
  type Db,
  expectRows,
  locked,
  type Statement,
  sql,
  storedAsExpected,
} from '../../storage/db.ts'
import type { TurnIndex } from '../../storage/indexes.ts'
import type { Fence } from '../../storage/shared-state.ts'
import { inScope, type Origin, type Scope } from './access.ts'
import { indexNewestTurn } from './indexing-store.ts'
import type { SessionRow } from './model.ts'

/** A turn as it is stored. */
export interface StoredTurn {
  readonly seq: number
  /** The app that answered. */
  readonly app_id: string | null
  readonly user_text: string
  readonly reply: string
  readonly created_at: string
}

export interface Memory {
  readonly summary: string
  /** Number of the newest turn that only the summary holds. */
  readonly foldedThrough: number
  /** The verbatim turns, oldest first. */
  readonly turns: readonly StoredTurn[]
  /** The person whose talk it is; null for no person's, undefined for a session never used. */
  readonly owner?: string | null | undefined
}

type MemoryRow = { summary: string; folded_through: number; user_id: string | null } & (
  | StoredTurn
  | { seq: null }
)

export interface FinishedTurn {
  readonly tenantId: string
  readonly sessionId: string
  readonly userText: string
  readonly reply: string
  readonly at: string
  readonly appId: string | null
  readonly deviceId: string | null
  /** How it was answered, as JSON. */
  readonly details: string | null
  /** The turn that it replaces; null when it replaces none. */
  readonly replaces: StoredTurn | null
  /** Fails the transaction when the turn has lost its place (storage/shared-state.ts). */
  readonly fence?: Fence
  /** What the session becomes that this turn begins; absent: one of a key. */
  readonly beginning?: { readonly origin: Origin; readonly userId: string | null }
}

/**
 * Numbers continue above every turn that the session ever folded, so a turn that is stored during a
 * fold is never mistaken for a folded one.
 */
// No lock: the statement before it, `touchSession`, holds the row of the session.
const insertTurn = (turn: FinishedTurn): Statement => sql`
  INSERT INTO turn (tenant_id, session_id, seq, app_id, user_text, reply, created_at, details)
  SELECT ${turn.tenantId}, ${turn.sessionId},
    1 + coalesce((SELECT max(seq) FROM turn WHERE tenant_id = ${turn.tenantId}
      AND session_id = ${turn.sessionId} AND seq > folded_through), folded_through),
    ${turn.appId}, ${turn.userText}, ${turn.reply}, ${turn.at}, ${turn.details}
  FROM session WHERE tenant_id = ${turn.tenantId} AND id = ${turn.sessionId}`

const touchSession = (turn: FinishedTurn): Statement => sql`
  INSERT INTO session (tenant_id, id, turn_count, first_at, last_at, app_id, device_id, user_id,
    origin)
  VALUES (${turn.tenantId}, ${turn.sessionId}, 1, ${turn.at}, ${turn.at},
    ${turn.appId}, ${turn.deviceId}, ${turn.beginning?.userId ?? null},
    ${turn.beginning?.origin ?? 'api'})
  ON CONFLICT (tenant_id, id) DO UPDATE SET turn_count = session.turn_count + 1,
    last_at = excluded.last_at, app_id = excluded.app_id, device_id = excluded.device_id`

/** Removes the turn that is replaced. If it no longer exists, the count of turns stays the same. */
function removeTurn({ tenantId, sessionId }: FinishedTurn, { seq, created_at }: StoredTurn) {
  const uncount = locked('session', tenantId, sessionId)`
    UPDATE session SET turn_count = turn_count - 1
    WHERE tenant_id = ${tenantId} AND id = ${sessionId}
      AND EXISTS (SELECT 1 FROM turn
        WHERE tenant_id = ${tenantId} AND session_id = ${sessionId} AND seq = ${seq}
          AND created_at = ${created_at})`
  const remove = sql`
    DELETE FROM turn WHERE tenant_id = ${tenantId} AND session_id = ${sessionId} AND seq = ${seq}
      AND created_at = ${created_at}`
  return [uncount, remove]
}

/** A new turn takes the place of one that a dead server has left. */
const dropInterrupted = ({ tenantId, sessionId }: FinishedTurn): Statement => sql`
  DELETE FROM talk_turn WHERE tenant_id = ${tenantId} AND session_id = ${sessionId}
    AND state = 'interrupted'`

/** Turns that one statement deletes, about 20 ms. */
const TURNS_REMOVED_AT_ONCE = 2_000

export interface SessionStoreOptions {
  readonly index: Pick<TurnIndex, 'put'>
  /** Whether folded turns stay readable as the transcript of their session. */
  readonly keepsTranscript: boolean
}

/** Sessions and their turns by tenant and the caller's own session id. */
export function createSessionStore(db: Db, { keepsTranscript, index }: SessionStoreOptions) {
  /** Deletes the oldest turns of a long session; false when there are few. */
  async function removeOldest(tenantId: string, id: string): Promise<boolean> {
    const last = await db.get<{ seq: number }>(sql`
      SELECT seq FROM turn WHERE tenant_id = ${tenantId} AND session_id = ${id}
      ORDER BY seq LIMIT 1 OFFSET ${TURNS_REMOVED_AT_ONCE - 1}`)
    if (!last) return false
    await db.run(sql`
      DELETE FROM turn
      WHERE tenant_id = ${tenantId} AND session_id = ${id} AND seq <= ${last.seq}`)
    return true
  }

  return {
    list(scope: Scope, since: string, limit: number): Promise<SessionRow[]> {
      const shown = inScope(scope)
      return db.all<SessionRow>({
        sql: `SELECT id, turn_count, first_at, last_at, app_id, device_id FROM session
          WHERE ${shown.sql} AND last_at >= ? ORDER BY last_at DESC, id LIMIT ?`,
        args: [...shown.args, since, limit],
      })
    },

    /** Whose talk it is; null for no person's, undefined for a session never used. */
    async ownerOf(tenantId: string, id: string): Promise<string | null | undefined> {
      const row = await db.get<{ user_id: string | null }>(sql`
        SELECT user_id FROM session WHERE tenant_id = ${tenantId} AND id = ${id}`)
      return row?.user_id ?? (row ? null : undefined)
    },

    /**
     * Reads summary and verbatim turns in one statement, so that a fold that commits meanwhile
     * cannot make a turn appear in both or in neither. Null for an unknown session.
     */
    async memory(tenantId: string, id: string): Promise<Memory | null> {
      const rows = await db.all<MemoryRow>(sql`
        SELECT s.summary, s.folded_through, s.user_id,
          t.seq, t.app_id, t.user_text, t.reply, t.created_at
        FROM session s LEFT JOIN turn t
          ON t.tenant_id = s.tenant_id AND t.session_id = s.id AND t.seq > s.folded_through
        WHERE s.tenant_id = ${tenantId} AND s.id = ${id} ORDER BY t.seq`)
      const [first] = rows
      if (!first) return null
      const turns = rows.flatMap((row): StoredTurn[] => {
        if (row.seq === null) return []
        const { seq, app_id, user_text, reply, created_at } = row
        return [{ seq, app_id, user_text, reply, created_at }]
      })
      const { summary, folded_through: foldedThrough, user_id: owner } = first
      return { summary, foldedThrough, turns, owner }
    },

    /**
     * Stores a turn, its words and its session together; they are on disk when this resolves.
     * Rejects with `NotAsExpected` when the fence fails. Resolves with the number of the turn; null
     * when the session was deleted meanwhile.
     */
    async appendTurn(turn: FinishedTurn): Promise<number | null> {
      const removal = turn.replaces === null ? [] : removeTurn(turn, turn.replaces)
      await db.batch([
        ...(turn.fence ?? []),
        ...removal,
        touchSession(turn),
        insertTurn(turn),
        indexNewestTurn(index, turn),
        dropInterrupted(turn),
      ])
      const { tenantId, sessionId } = turn
      const stored = await db.get<{ seq: number | null }>(sql`
        SELECT max(seq) AS seq FROM turn
        WHERE tenant_id = ${tenantId} AND session_id = ${sessionId}`)
      return stored?.seq ?? null
    },

    /**
     * Replaces the turns up to `last` by `summary` in one transaction. False, and nothing changes,
     * when the session was folded or deleted meanwhile. A new session with the same id repeats the
     * numbers, so the time of the turn is compared as well.
     */
    fold(
      tenantId: string,
      id: string,
      was: number,
      last: StoredTurn,
      summary: string,
    ): Promise<boolean> {
      const update = locked('session', tenantId, id)`
        UPDATE session SET summary = ${summary}, folded_through = ${last.seq}
        WHERE tenant_id = ${tenantId} AND id = ${id} AND folded_through = ${was}
          AND EXISTS (SELECT 1 FROM turn
            WHERE tenant_id = ${tenantId} AND session_id = ${id} AND seq = ${last.seq}
              AND created_at = ${last.created_at})`
      const forget = sql`
        DELETE FROM turn
        WHERE tenant_id = ${tenantId} AND session_id = ${id} AND seq <= ${last.seq}`
      return storedAsExpected(
        db.batch([expectRows(1, update), ...(keepsTranscript ? [] : [forget])]),
      )
    },

    /** Deletes up to 5,000 folded turns; resolves with their number. */
    async forgetFolded(): Promise<number> {
      // No lock: what is folded stays folded.
      const { changes } = await db.run(sql`
        DELETE FROM turn WHERE (tenant_id, session_id, seq) IN (
          SELECT t.tenant_id, t.session_id, t.seq FROM session s CROSS JOIN turn t
          WHERE t.tenant_id = s.tenant_id AND t.session_id = s.id AND t.seq <= s.folded_through
          LIMIT 5000)`)
      return changes
    },

    /**
     * Deletes the session and its turns. Most turns of a long session are deleted before, in steps:
     * a hundred thousand at once would delay all writes by a second.
     */
    async remove(tenantId: string, id: string): Promise<void> {
      while (await removeOldest(tenantId, id));
      await db.run(sql`DELETE FROM session WHERE tenant_id = ${tenantId} AND id = ${id}`)
    },
    /** Statement that deletes the talks of a person in a tenant. */
    removal: (tenantId: string, userId: string): Statement =>
      sql`DELETE FROM session WHERE user_id = ${userId} AND tenant_id = ${tenantId}`,

    /** To be called after sessions were deleted by other statements. */
    forget(): void {},
  }
}

export type SessionStore = ReturnType<typeof createSessionStore>

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
      if (memory) recent.put(name, { memory })
      return memory
    },

    appendTurn: (turn) =>
      change(
        nameOf(turn.tenantId, turn.sessionId),
        () => store.appendTurn(turn),
        (before) => extended(before, turn),
      ),

    fold: (tenantId, id, was, last, summary) =>
      change(
        nameOf(tenantId, id),
        () => store.fold(tenantId, id, was, last, summary),
        (before, isFolded) => (isFolded ? folded(before, last, summary) : null),
      ),

    remove: (tenantId, id) =>
      store.remove(tenantId, id).finally(() => recent.drop(nameOf(tenantId, id))),

    forget() {
      recent = open()
    },
  }
}

const nameOf = (tenantId: string, id: string) => `${tenantId}/${id}`

/** The memory after `turn`, which gets the number that the store gives it. */
function extended(before: Memory, turn: FinishedTurn): Memory {
  const { summary, foldedThrough, owner } = before
  const turns = before.turns.filter(({ seq }) => seq !== turn.replaces?.seq)
  const seq = 1 + Math.max(foldedThrough, turns.at(-1)?.seq ?? 0)
  const { appId: app_id, userText: user_text, reply, at: created_at } = turn
  const added = { seq, app_id, user_text, reply, created_at }
  return { summary, foldedThrough, turns: [...turns, added], owner }
}

const folded = ({ turns, owner }: Memory, last: StoredTurn, summary: string): Memory => ({
  summary,
  foldedThrough: last.seq,
  turns: turns.filter(({ seq }) => seq > last.seq),
  owner,
})

/** Size of a cached turn besides its text, in UTF-16 units. */
const TURN_UNITS = 128

function unitsOf({ summary, turns }: Memory): number {
  let units = TURN_UNITS + summary.length
  for (const { user_text, reply } of turns) units += TURN_UNITS + user_text.length + reply.length
  return units
}
