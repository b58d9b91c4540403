import { inPieces, type Sized } from '../../core/pieces.ts'
import {
  type Db,
  expectRows,
  locked,
  type Statement,
  sql,
  storedAsExpected,
} from '../../storage/db.ts'
import type { Fence } from '../../storage/shared-state.ts'
import { inScope, type Origin, type Scope } from './access.ts'
import { createDeletion } from './deletion-store.ts'
import { EVERY_TURN } from './indexing-store.ts'
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
  /** Whether a turn has ever named a file. */
  readonly hasFiles?: boolean
}

type MemoryRow = {
  summary: string
  folded_through: number
  user_id: string | null
  files: number
} & (StoredTurn | { seq: null })

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
  /** Whether it names files, which become those of the session. */
  readonly hasFiles?: boolean
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
    origin, index_below)
  VALUES (${turn.tenantId}, ${turn.sessionId}, 1, ${turn.at}, ${turn.at},
    ${turn.appId}, ${turn.deviceId}, ${turn.beginning?.userId ?? null},
    ${turn.beginning?.origin ?? 'api'}, ${EVERY_TURN})
  ON CONFLICT (tenant_id, id) DO UPDATE SET turn_count = session.turn_count + 1,
    last_at = excluded.last_at, app_id = excluded.app_id, device_id = excluded.device_id,
    index_below = excluded.index_below`

/** Removes the turn that is replaced. If it no longer exists, the count of turns stays the same. */
function removeTurn({ tenantId, sessionId }: FinishedTurn, { seq, created_at }: StoredTurn) {
  const uncount = locked('session', tenantId, sessionId)`
    UPDATE session SET turn_count = turn_count - 1,
      index_from = CASE WHEN index_from > ${seq} THEN ${seq} ELSE index_from END
    WHERE tenant_id = ${tenantId} AND id = ${sessionId}
      AND EXISTS (SELECT 1 FROM turn
        WHERE tenant_id = ${tenantId} AND session_id = ${sessionId} AND seq = ${seq}
          AND created_at = ${created_at})`
  const forget = locked('session', tenantId, sessionId)`
    DELETE FROM feedback
    WHERE tenant_id = ${tenantId} AND session_id = ${sessionId} AND seq = ${seq}
      AND EXISTS (SELECT 1 FROM turn
        WHERE tenant_id = ${tenantId} AND session_id = ${sessionId} AND seq = ${seq}
          AND created_at = ${created_at})`
  const remove = sql`
    DELETE FROM turn WHERE tenant_id = ${tenantId} AND session_id = ${sessionId} AND seq = ${seq}
      AND created_at = ${created_at}`
  return [uncount, forget, remove]
}

/** A new turn takes the place of one that a dead server has left. */
const dropInterrupted = ({ tenantId, sessionId }: FinishedTurn): Statement => sql`
  DELETE FROM talk_turn WHERE tenant_id = ${tenantId} AND session_id = ${sessionId}
    AND state = 'interrupted'`

export interface SessionStoreOptions {
  /** Whether folded turns stay readable as the transcript of their session. */
  readonly keepsTranscript: () => boolean
}

/** Sessions and their turns by tenant and the caller's own session id. */
export function createSessionStore(db: Db, { keepsTranscript }: SessionStoreOptions) {
  const deletion = createDeletion(db)

  /**
   * Stores a turn and its session together; they are on disk when this resolves. Its words are
   * indexed later (indexing.ts). Rejects with `NotAsExpected` when the fence fails.
   */
  async function writeTurn(turn: FinishedTurn): Promise<void> {
    const removal = turn.replaces === null ? [] : removeTurn(turn, turn.replaces)
    await db.batch([
      ...(turn.fence ?? []),
      ...removal,
      touchSession(turn),
      insertTurn(turn),
      dropInterrupted(turn),
    ])
  }

  /** The number of the newest turn; null when there is none. */
  async function newestTurn(tenantId: string, id: string): Promise<number | null> {
    const stored = await db.get<{ seq: number | null }>(sql`
      SELECT max(seq) AS seq FROM turn WHERE tenant_id = ${tenantId} AND session_id = ${id}`)
    return stored?.seq ?? null
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
          (SELECT count(*) FROM session_file f
            WHERE f.tenant_id = s.tenant_id AND f.session_id = s.id) AS files,
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
      return { summary, foldedThrough, turns, owner, hasFiles: first.files > 0 }
    },

    writeTurn,
    newestTurn,

    /** As `writeTurn`. Resolves with the number of the turn; null when it was deleted meanwhile. */
    async appendTurn(turn: FinishedTurn): Promise<number | null> {
      await writeTurn(turn)
      return newestTurn(turn.tenantId, turn.sessionId)
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
        db.batch([expectRows(1, update), ...(keepsTranscript() ? [] : [forget])]),
      )
    },

    /** Deletes up to 5,000 folded turns; resolves with their number. */
    async forgetFolded(): Promise<number> {
      const folded = await db.all<Sized & { session: string; seq: number; tenant: string }>(sql`
        SELECT t.tenant_id AS tenant, t.session_id AS session, t.seq,
          octet_length(t.user_text) + octet_length(t.reply)
            + octet_length(coalesce(t.details, '')) AS whole
        FROM session s CROSS JOIN turn t
        WHERE t.tenant_id = s.tenant_id AND t.session_id = s.id AND t.seq <= s.folded_through
        LIMIT 5000`)
      for (const piece of inPieces(folded)) {
        const keys = JSON.stringify(piece.map(({ tenant, session, seq }) => [tenant, session, seq]))
        // No lock: what is folded stays folded, as long as no other session has got the name.
        await db.run(sql`DELETE FROM turn
          WHERE (tenant_id, session_id, seq) IN (
              SELECT value ->> 0, value ->> 1, CAST(value ->> 2 AS BIGINT) FROM json_each(${keys}))
            AND EXISTS (SELECT 1 FROM session s WHERE s.tenant_id = turn.tenant_id
              AND s.id = turn.session_id AND turn.seq <= s.folded_through)`)
      }
      return folded.length
    },

    remove: (tenantId: string, id: string, onHidden: () => void = () => {}) =>
      deletion.remove(tenantId, id, onHidden),

    /** To be called after sessions were hidden by other statements. */
    forget(): void {},
  }
}

export type SessionStore = ReturnType<typeof createSessionStore>
