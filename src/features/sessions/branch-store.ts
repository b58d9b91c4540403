import {
  type Db,
  expectRows,
  joined,
  type Statement,
  sql,
  storedAsExpected,
} from '../../storage/db.ts'
import { versionIds } from './family-store.ts'

export interface NewBranch {
  readonly tenantId: string
  /** The session that is branched. */
  readonly from: string
  readonly id: string
  /** The last turn that the branch has; 0 for none. */
  readonly seq: number
  /** The first turn that is copied. */
  readonly since: number
  /** Only turns that this app answered; null: all. */
  readonly appId: string | null
  /** Turns up to this number are in the summary alone. */
  readonly foldedThrough: number
  readonly summary: string
  /** Gets the number of the version behind it. */
  readonly title: string
  readonly at: string
}

export interface Version {
  readonly session_id: string
  readonly from_seq: number | null
  readonly last_at: string
}

export interface BranchSource {
  readonly user_id: string | null
  readonly app_id: string | null
  readonly summary: string
  readonly folded_through: number
  readonly family: string | null
  readonly versions: number
}

/** The newest turns that are copied. */
const TURNS_MAX = 1_000

/** Branches of sessions, which are versions of one conversation. */
export function createBranchStore(db: Db) {
  const turnsOf = (tenantId: string, id: string, appId: string | null): Statement => ({
    sql: 'tenant_id = ? AND session_id = ? AND (CAST(? AS TEXT) IS NULL OR app_id = ?)',
    args: [tenantId, id, appId, appId],
  })

  return {
    source: (tenantId: string, id: string) =>
      db.get<BranchSource>(sql`
        SELECT user_id, app_id, summary, folded_through, family,
          (SELECT count(*) FROM session o WHERE o.tenant_id = s.tenant_id
            AND o.family = s.family) AS versions
        FROM session s WHERE tenant_id = ${tenantId} AND id = ${id}`),

    /** The first text of the turns that the app answered. */
    async firstText(tenantId: string, id: string, appId: string): Promise<string> {
      const turns = turnsOf(tenantId, id, appId)
      const row = await db.get<{ user_text: string }>({
        sql: `SELECT user_text FROM turn WHERE ${turns.sql} ORDER BY seq LIMIT 1`,
        args: turns.args,
      })
      return row?.user_text ?? ''
    },

    async hasTurn(tenantId: string, id: string, seq: number, appId: string | null) {
      const turns = turnsOf(tenantId, id, appId)
      const statement = {
        sql: `SELECT 1 AS one FROM turn WHERE ${turns.sql} AND seq = ?`,
        args: [...turns.args, seq],
      }
      return (await db.get(statement)) !== null
    },

    /** The bytes of the newest turns up to one, newest first; found without reading their text. */
    sizes(tenantId: string, id: string, seq: number, appId: string | null) {
      const turns = turnsOf(tenantId, id, appId)
      return db.all<{ seq: number; text: number; whole: number }>({
        sql: `SELECT seq, octet_length(user_text) + octet_length(reply) AS text,
            octet_length(user_text) + octet_length(reply)
              + octet_length(coalesce(details, '')) AS whole FROM turn
          WHERE ${turns.sql} AND seq <= ? ORDER BY seq DESC LIMIT ${TURNS_MAX}`,
        args: [...turns.args, seq],
      })
    },

    /** False when the session was deleted meanwhile. */
    insert(branch: NewBranch): Promise<boolean> {
      const { tenantId, from, id, seq, since, at } = branch
      const turns = turnsOf(tenantId, from, branch.appId)
      // Not the name of the session: a deleted name is free, also for other people.
      const family = sql`
        UPDATE session SET family = coalesce(family, ${id})
        WHERE tenant_id = ${tenantId} AND id = ${from}`
      // No lock: the statement before it holds the row.
      const session = sql`
        INSERT INTO session (tenant_id, id, turn_count, first_at, last_at, app_id, device_id,
          user_id, origin, summary, folded_through, auto_title, family, from_seq, index_below,
          folder, pinned, archived)
        SELECT tenant_id, ${id}, 0, ${at}, ${at}, app_id, device_id, user_id, origin,
          ${branch.summary}, ${branch.foldedThrough},
          CAST(${branch.title} AS TEXT) || ' (' || CAST((SELECT count(*) + 1 FROM session o
            WHERE o.tenant_id = ${tenantId} AND o.family = session.family) AS TEXT) || ')',
          family, ${seq}, ${seq + 1},
          folder, pinned, archived
        FROM session WHERE tenant_id = ${tenantId} AND id = ${from}`
      // No lock: turns of the branch have no other writer yet.
      const copies = {
        sql: `INSERT INTO turn (tenant_id, session_id, seq, app_id, user_text, reply, created_at,
            details)
          SELECT tenant_id, ?, seq, app_id, user_text, reply, created_at, details FROM turn
          WHERE ${turns.sql} AND seq >= ? AND seq <= ?`,
        args: [id, ...turns.args, since, seq],
      }
      // No lock: as above.
      const count = sql`
        UPDATE session SET turn_count = (SELECT count(*) FROM turn
            WHERE tenant_id = ${tenantId} AND session_id = ${id}),
          first_at = coalesce((SELECT min(created_at) FROM turn
            WHERE tenant_id = ${tenantId} AND session_id = ${id}), first_at)
        WHERE tenant_id = ${tenantId} AND id = ${id}`
      // No lock: as above.
      const files = sql`
        INSERT INTO session_file (tenant_id, session_id, file_id)
        SELECT tenant_id, ${id}, file_id FROM session_file
        WHERE tenant_id = ${tenantId} AND session_id = ${from}`
      // No lock: as above. Those of its own turns, also when the other version goes. The turns are
      // read once, and taken apart only where they have pictures.
      const pictures = sql`
        INSERT INTO session_picture (tenant_id, session_id, picture_id)
        SELECT tenant_id, ${id}, picture_id FROM session_picture
        WHERE tenant_id = ${tenantId} AND session_id = ${from}
          AND picture_id IN (SELECT image.value ->> 'file_id' FROM turn t
            CROSS JOIN json_each('[' || t.details || ']') told
            CROSS JOIN json_each(CAST(told.value -> 'images' AS TEXT)) image
            WHERE t.tenant_id = ${tenantId} AND t.session_id = ${id}
              AND t.details LIKE '%"images":[%')`
      return storedAsExpected(
        db.batch([expectRows(1, family), expectRows(1, session), copies, count, files, pictures]),
      )
    },

    /** In the order in which they began. */
    versions: (tenantId: string, id: string) =>
      db.all<Version>(
        joined(
          sql`SELECT id AS session_id, from_seq, last_at FROM session
          WHERE tenant_id = ${tenantId} AND id IN (`,
          versionIds(tenantId, id),
          sql`) ORDER BY num`,
        ),
      ),
  }
}

export type BranchStore = ReturnType<typeof createBranchStore>
