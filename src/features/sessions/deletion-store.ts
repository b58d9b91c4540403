import { ANONYMOUS } from '../../core/fields.ts'
import { type Db, joined, type Statement, sql } from '../../storage/db.ts'
import { GONE } from './access.ts'
import { piecesOf, type TurnSize } from './pieces.ts'

/** Turns that one statement deletes, about 20 ms. */
const TURNS_REMOVED_AT_ONCE = 2_000

/**
 * Statements that take sessions from everybody, with what is read without them; `which` is a
 * condition on their table. Their turns are deleted afterwards, in pieces.
 */
export function hiding(which: Statement): readonly Statement[] {
  const those = joined(sql`(SELECT tenant_id, id FROM session WHERE`, which, sql`)`)
  return [
    // No lock: what is stored meanwhile goes when its session does.
    joined(sql`DELETE FROM feedback WHERE (tenant_id, session_id) IN`, those),
    // No lock: as above.
    joined(sql`DELETE FROM talk_turn WHERE (tenant_id, session_id) IN`, those),
    joined(
      sql`UPDATE session SET user_id = ${GONE}, turn_count = 0, family = NULL, index_below = 0,
        title = NULL, auto_title = NULL, summary = '' WHERE`,
      which,
    ),
  ]
}

const sessionOf = (tenantId: string, id: string) => sql`tenant_id = ${tenantId} AND id = ${id}`
const isGone = (tenantId: string, id: string) => sql`
  EXISTS (SELECT 1 FROM session WHERE tenant_id = ${tenantId} AND id = ${id} AND user_id = ${GONE})`

/** Deletes sessions in steps: 100 MB at once would delay the writes of all by seconds. */
export function createDeletion(db: Db) {
  const oldest = (tenantId: string, id: string, also: Statement) =>
    db.all<TurnSize>(
      joined(
        sql`SELECT seq, octet_length(user_text) + octet_length(reply)
          + octet_length(coalesce(details, '')) AS whole FROM turn
          WHERE tenant_id = ${tenantId} AND session_id = ${id}`,
        also,
        sql`ORDER BY seq LIMIT ${TURNS_REMOVED_AT_ONCE}`,
      ),
    )

  /** Deletes turns, the oldest first, as long as `also` holds and the signal has not aborted. */
  async function empty(tenantId: string, id: string, also: Statement, signal?: AbortSignal) {
    for (;;) {
      const turns = await oldest(tenantId, id, also)
      for (const { last } of piecesOf(turns)) {
        if (signal?.aborted) return
        const piece = sql`DELETE FROM turn
          WHERE tenant_id = ${tenantId} AND session_id = ${id} AND seq <= ${last}`
        // No lock: a session that is gone stays so until its row is deleted.
        await db.run(joined(piece, also))
      }
      if (turns.length < TURNS_REMOVED_AT_ONCE) return
    }
  }

  /**
   * Deletes a session that was hidden. One that has got its name since stays. When the signal
   * aborts, what is left goes with a later call.
   */
  async function clear(tenantId: string, id: string, signal?: AbortSignal): Promise<void> {
    await empty(tenantId, id, joined(sql`AND`, isGone(tenantId, id)), signal)
    if (signal?.aborted) return
    await db.run(
      joined(sql`DELETE FROM session WHERE`, sessionOf(tenantId, id), sql`AND user_id = ${GONE}`),
    )
  }

  return {
    clear,

    /** Sessions that are hidden. */
    gone: () =>
      db.all<{ tenant_id: string; id: string }>(sql`
        SELECT tenant_id, id FROM session WHERE user_id = ${GONE}`),

    /** Deletes a session; nobody sees half of a long one, also when the server dies meanwhile. */
    async remove(tenantId: string, id: string, onHidden: () => void): Promise<void> {
      const turns = await oldest(tenantId, id, sql``)
      const isLong = turns.length === TURNS_REMOVED_AT_ONCE || piecesOf(turns).length > 1
      if (isLong && id !== ANONYMOUS) {
        await db.batch(hiding(sessionOf(tenantId, id)))
        onHidden()
        return clear(tenantId, id)
      }
      // The session of callers who name none is everybody's, and is never hidden from them.
      if (isLong) await empty(tenantId, id, sql``)
      await db.run(joined(sql`DELETE FROM session WHERE`, sessionOf(tenantId, id)))
    },
  }
}

export type Deletion = ReturnType<typeof createDeletion>
