import type { Principal } from '../../core/principal.ts'
import { type Db, sql } from '../../storage/db.ts'
import type { Allowed } from '../../tools/asking.ts'

export interface AskRow {
  readonly user_id: string | null
  readonly key_id: string | null
  readonly state: 'open' | 'answered' | 'taken' | 'gone'
  /** JSON; null once the turn has taken the answer. */
  readonly question: string | null
  readonly expires_at: number
}

export interface NewAsk {
  readonly id: string
  readonly question: string
  readonly expiresAt: number
}

/** What running turns ask their people. A row goes from open to answered, and then to taken. */
export function createAskStore(db: Db) {
  const moved = async (work: ReturnType<Db['run']>) => (await work).changes === 1

  return {
    async open(
      { tenantId, userId, keyId }: Pick<Principal, 'tenantId' | 'userId' | 'keyId'>,
      { id, question, expiresAt }: NewAsk,
    ): Promise<void> {
      await db.run(sql`
        INSERT INTO open_ask (id, tenant_id, user_id, key_id, question, expires_at)
        VALUES (${id}, ${tenantId}, ${userId}, ${keyId}, ${question}, ${expiresAt})`)
    },

    find: (tenantId: string, id: string) =>
      db.get<AskRow>(sql`
        SELECT user_id, key_id, state, question, expires_at FROM open_ask
        WHERE id = ${id} AND tenant_id = ${tenantId}`),

    /** False when it was answered before, or is over. */
    answer: (id: string, answer: string, now: number) =>
      moved(
        db.run(sql`
          UPDATE open_ask SET state = 'answered', answer = ${answer}
          WHERE id = ${id} AND state = 'open' AND expires_at > ${now}`),
      ),

    /** Takes the answer, of which nothing is left here then; null when there is none. */
    async take(id: string): Promise<string | null> {
      const row = await db.get<{ answer: string | null }>(sql`
        SELECT answer FROM open_ask WHERE id = ${id} AND state = 'answered'`)
      if (!row) return null
      const isTaken = await moved(
        db.run(sql`
          UPDATE open_ask SET state = 'taken', question = NULL, answer = NULL
          WHERE id = ${id} AND state = 'answered'`),
      )
      return isTaken ? row.answer : null
    },

    /** False when it was answered meanwhile. */
    expire: (id: string) =>
      moved(db.run(sql`DELETE FROM open_ask WHERE id = ${id} AND state = 'open'`)),

    /** An answer that no turn has taken is none; false when one has. */
    withdraw: (id: string) =>
      moved(db.run(sql`DELETE FROM open_ask WHERE id = ${id} AND state = 'answered'`)),

    /** The turn is over. */
    async drop(id: string): Promise<void> {
      await db.run(sql`DELETE FROM open_ask WHERE id = ${id} AND state <> 'taken'`)
    },

    async prune(before: number): Promise<void> {
      await db.run(sql`DELETE FROM open_ask WHERE expires_at < ${before}`)
    },

    async isAllowed(tenantId: string, sessionId: string, tool: Allowed): Promise<boolean> {
      const row = await db.get(sql`
        SELECT 1 AS found FROM ask_grant
        WHERE tenant_id = ${tenantId} AND session_id = ${sessionId}
          AND server_id = ${tool.serverId} AND tool = ${tool.tool} AND hash = ${tool.hash}`)
      return row !== null
    },

    /** Nothing is stored for a session or a server that is no longer there. */
    async allow(tenantId: string, sessionId: string, tools: readonly Allowed[]): Promise<void> {
      await db.batch(
        tools.map(
          // No lock: keys of other tables refuse a row whose session or server goes meanwhile.
          ({ serverId, tool, hash }) => sql`
            INSERT INTO ask_grant (tenant_id, session_id, server_id, tool, hash)
            SELECT s.tenant_id, s.id, m.id, ${tool}, ${hash}
            FROM session s JOIN mcp_server m ON m.tenant_id = s.tenant_id
            WHERE s.tenant_id = ${tenantId} AND s.id = ${sessionId} AND m.id = ${serverId}
            ON CONFLICT (tenant_id, session_id, server_id, tool)
              DO UPDATE SET hash = excluded.hash`,
        ),
      )
    },
  }
}

export type AskStore = ReturnType<typeof createAskStore>
