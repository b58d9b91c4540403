import { type Db, joined, type Statement, sql } from '../../storage/db.ts'
import { versionIds } from './family-store.ts'

export interface Version {
  readonly session_id: string
  readonly from_seq: number | null
  readonly last_at: string
  /** The last turn that it shares with the one that was asked for; null for that one. */
  readonly shared_seq: number | null
  /** When its turn after that was stored; null when it has none. */
  readonly next_at: string | null
}

export interface BranchSource {
  /** No other session has it, also one that gets the name later. */
  readonly num: number
  readonly user_id: string | null
  readonly app_id: string | null
  readonly summary: string
  readonly folded_through: number
  readonly family: string | null
  readonly versions: number
}

/** The newest turns that are copied. */
const TURNS_MAX = 1_000

/** The turns of a session; with an app, those that it answered. */
export const turnsOf = (tenantId: string, id: string, appId: string | null): Statement => ({
  sql: 'tenant_id = ? AND session_id = ? AND (CAST(? AS TEXT) IS NULL OR app_id = ?)',
  args: [tenantId, id, appId, appId],
})

/** What is known of a session before it is branched, and its versions. */
export function createBranchStore(db: Db) {
  return {
    source: (tenantId: string, id: string) =>
      db.get<BranchSource>(sql`
        SELECT num, user_id, app_id, summary, folded_through, family,
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

    /** Files of a session that turns after one have named, and none before. */
    async filesAfter(tenantId: string, id: string, seq: number): Promise<string[]> {
      // The text, which begins with their names, is looked at before the details are read.
      const rows = await db.all<{ file_id: string }>(sql`
        SELECT file.value ->> 'file_id' AS file_id FROM turn t
          CROSS JOIN json_each('[' || t.details || ']') told
          CROSS JOIN json_each(CAST(told.value -> 'files' AS TEXT)) file
        WHERE t.tenant_id = ${tenantId} AND t.session_id = ${id}
          AND t.user_text LIKE '[文件 %' AND t.details LIKE '%"files":[%'
        GROUP BY 1 HAVING min(t.seq) > ${seq}`)
      return rows.map(({ file_id }) => file_id)
    },

    /** The family of a session; one that has none begins the family `own`. */
    async familyOf(tenantId: string, id: string, own: string): Promise<string> {
      await db.run(sql`
        UPDATE session SET family = coalesce(family, ${own})
        WHERE tenant_id = ${tenantId} AND id = ${id}`)
      const row = await db.get<{ family: string }>(sql`
        SELECT family FROM session WHERE tenant_id = ${tenantId} AND id = ${id}`)
      return row?.family ?? own
    },

    async ofFamily(tenantId: string, family: string): Promise<string[]> {
      const rows = await db.all<{ id: string }>(sql`
        SELECT id FROM session WHERE tenant_id = ${tenantId} AND family = ${family} ORDER BY num`)
      return rows.map(({ id }) => id)
    },

    /**
     * In the order in which they began. Two share the turns that were copied, which keep number and
     * time; what they have behind both places of branching was copied from neither.
     */
    versions: (tenantId: string, id: string) =>
      db.all<Version>(
        joined(
          sql`SELECT session_id, from_seq, last_at, shared_seq,
            (SELECT t.created_at FROM turn t WHERE t.tenant_id = ${tenantId}
              AND t.session_id = w.session_id AND t.seq > w.shared_seq
              ORDER BY t.seq LIMIT 1) AS next_at
          FROM (SELECT v.id AS session_id, v.num, v.from_seq, v.last_at,
            CASE WHEN v.id <> ${id} THEN coalesce((SELECT a.seq FROM turn a
              JOIN turn b ON b.tenant_id = a.tenant_id AND b.session_id = v.id AND b.seq = a.seq
              WHERE a.tenant_id = ${tenantId} AND a.session_id = ${id}
                AND (a.seq <= v.from_seq OR a.seq <= (SELECT o.from_seq FROM session o
                  WHERE o.tenant_id = ${tenantId} AND o.id = ${id}))
                AND b.created_at = a.created_at AND b.user_text = a.user_text
                AND b.reply = a.reply
              ORDER BY a.seq DESC LIMIT 1), 0) END AS shared_seq
            FROM session v WHERE v.tenant_id = ${tenantId} AND v.id IN (`,
          versionIds(tenantId, id),
          sql`)) w ORDER BY num`,
        ),
      ),
  }
}

export type BranchStore = ReturnType<typeof createBranchStore>
