import { DETACHED_ENDED_MS } from '../../core/limits/contract.ts'
import {
  type Db,
  expectRows,
  joined,
  locked,
  type Statement,
  sql,
  storedAsExpected,
  textRows,
} from '../../storage/db.ts'
import type { PictureRef } from '../files/pictures.ts'
import type { Origin } from '../sessions/access.ts'
import { idOfName } from './detached-names.ts'
import { PIECE_CHARS } from './told.ts'

export interface DetachedRow {
  readonly id: string
  readonly session_id: string
  /** The process that runs it, or has run it. */
  readonly server: string
  readonly state: 'running' | 'interrupted' | 'ended'
  readonly stored: number
  readonly user_text: string
  /** As JSON: ids, and `PictureRef`s. */
  readonly files: string
  readonly images: string
  readonly started_at: string
  /** When the state began, in epoch milliseconds. */
  readonly state_at: number
}

export interface NewDetached {
  readonly id: string
  readonly tenantId: string
  readonly sessionId: string
  readonly userId: string
  readonly beginning: { readonly origin: Origin; readonly userId: string | null }
  readonly appId: string | null
  readonly server: string
  readonly text: string
  readonly files: readonly string[]
  readonly images: readonly PictureRef[]
  /** Statements that store the pictures. */
  readonly also: readonly Statement[]
  readonly at: string
  readonly now: number
}

/** Events of a turn, as JSON texts; the first one has `firstId`. */
export interface EventBatch {
  readonly turnId: string
  readonly firstId: number
  readonly events: readonly string[]
}

/** Sessions that were begun by a turn which stored nothing. */
const EMPTY = `turn_count = 0 AND family IS NULL`

/** A row for so many events that it is quickly read. */
const putEvents = ({ turnId, firstId, events }: EventBatch): readonly Statement[] => {
  const rows: Statement[] = []
  for (let from = 0; from < events.length; ) {
    let end = from
    for (let chars = 0; chars < PIECE_CHARS && end < events.length; end++) {
      chars += events[end]?.length ?? 0
    }
    const json = `[${events.slice(from, end).join(',')}]`
    // No lock: a turn that was deleted stays deleted, and one process alone adds to it.
    rows.push(sql`
      INSERT INTO talk_event (turn_id, first_id, events)
      SELECT id, ${firstId + from}, ${json} FROM talk_turn WHERE id = ${turnId}`)
    from = end
  }
  return rows
}

/** Turns that go on when their reader leaves, and what they have told. */
export function createDetachedStore(db: Db) {
  return {
    /**
     * Stores the question and takes the name of the session. False, and nothing is stored, when the
     * session is another person's, the person has `most` turns already, or the turn is there.
     */
    begin(turn: NewDetached, most: number): Promise<boolean> {
      const { id, tenantId, sessionId, userId, beginning } = turn
      const insert = locked('talk_turn', userId)`
        INSERT INTO talk_turn (id, tenant_id, session_id, user_id, server, state, user_text,
          files, images, started_at, state_at)
        SELECT ${id}, tenant_id, id, ${userId}, ${turn.server}, 'running', ${turn.text},
          ${JSON.stringify(turn.files)}, ${JSON.stringify(turn.images)}, ${turn.at}, ${turn.now}
        FROM session
        WHERE tenant_id = ${tenantId} AND id = ${sessionId}
          AND (user_id IS NULL OR user_id = ${userId})
          AND (SELECT count(*) FROM talk_turn
            WHERE user_id = ${userId} AND state = 'running') < ${most}
        ON CONFLICT (id) DO NOTHING`
      return storedAsExpected(
        db.batch([
          sql`
            INSERT INTO session (tenant_id, id, turn_count, first_at, last_at, app_id, user_id,
              origin)
            VALUES (${tenantId}, ${sessionId}, 0, ${turn.at}, ${turn.at}, ${turn.appId},
              ${beginning.userId}, ${beginning.origin})
            ON CONFLICT (tenant_id, id) DO NOTHING`,
          sql`
            DELETE FROM talk_turn WHERE tenant_id = ${tenantId} AND session_id = ${sessionId}
              AND state = 'interrupted'`,
          sql`
            DELETE FROM talk_turn WHERE id = ${id} AND state = 'ended' AND stored = 0
              AND state_at <= ${turn.now - DETACHED_ENDED_MS}`,
          expectRows(1, insert),
          ...turn.also,
        ]),
      )
    },

    /** Statement of the transaction that stores the turn; fails it when the turn has ended. */
    storing: (id: string, now: number): Statement =>
      expectRows(
        1,
        sql`UPDATE talk_turn SET state = 'ended', stored = 1, state_at = ${now}
          WHERE id = ${id} AND state = 'running'`,
      ),

    put: (batch: EventBatch) => db.batch(putEvents(batch)),

    /** Stores the last events; a turn that is still running ends, or is left as interrupted. */
    async end(batch: EventBatch, state: 'ended' | 'interrupted', now: number): Promise<void> {
      await db.batch([
        ...putEvents(batch),
        sql`UPDATE talk_turn SET state = ${state}, state_at = ${now}
          WHERE id = ${batch.turnId} AND state = 'running'`,
      ])
    },

    /** By its id, or the name that the person has given it. */
    find: (tenantId: string, userId: string, id: string) =>
      db.get<DetachedRow>(sql`
        SELECT id, session_id, server, state, stored, user_text, files, images, started_at,
          state_at
        FROM talk_turn WHERE id IN (${id}, ${idOfName(tenantId, userId, id)})
          AND tenant_id = ${tenantId} AND user_id = ${userId}`),

    /** The turns of a session that have not ended, in the order in which they began. */
    pending: (tenantId: string, sessionId: string, userId: string) =>
      db.all<DetachedRow>(sql`
        SELECT id, session_id, server, state, stored, user_text, files, images, started_at,
          state_at
        FROM talk_turn WHERE tenant_id = ${tenantId} AND session_id = ${sessionId}
          AND user_id = ${userId} AND state <> 'ended' ORDER BY started_at, id`),

    /** The first row that holds events after `after`, or the last of all. */
    events: (id: string, after: number) =>
      db.all<{ first_id: number; events: string }>(sql`
        SELECT first_id, events FROM talk_event
        WHERE turn_id = ${id} AND first_id >= (SELECT coalesce(max(first_id), 1) FROM talk_event
          WHERE turn_id = ${id} AND first_id <= ${after + 1})
        ORDER BY first_id LIMIT 1`),

    /** Turns whose servers are not among these become interrupted: all, or those of one session. */
    async interrupt(
      servers: readonly string[],
      now: number,
      only: { readonly tenantId: string; readonly sessionId: string } | null = null,
    ): Promise<void> {
      const alive = textRows(servers)
      const which = only
        ? sql`AND tenant_id = ${only.tenantId} AND session_id = ${only.sessionId}`
        : sql``
      await db.run(
        joined(
          sql`
            UPDATE talk_turn SET state = 'interrupted', state_at = ${now}
            WHERE state = 'running'
              AND server NOT IN (SELECT value ->> 0 FROM json_each(${alive}))`,
          which,
        ),
      )
    },

    /** Drops an interrupted turn; false when it is none. */
    async drop(tenantId: string, userId: string, id: string): Promise<boolean> {
      const turn = await db.get<{ session_id: string }>(sql`
        SELECT session_id FROM talk_turn WHERE id = ${id} AND tenant_id = ${tenantId}
          AND user_id = ${userId} AND state = 'interrupted'`)
      if (!turn) return false
      return storedAsExpected(
        db.batch([
          expectRows(1, sql`DELETE FROM talk_turn WHERE id = ${id} AND state = 'interrupted'`),
          {
            // No lock: a turn that begins meanwhile has a row, or inserts the session anew.
            sql: `DELETE FROM session WHERE tenant_id = ? AND id = ? AND ${EMPTY}
              AND NOT EXISTS (SELECT 1 FROM talk_turn t
                WHERE t.tenant_id = session.tenant_id AND t.session_id = session.id)`,
            args: [tenantId, turn.session_id],
          },
        ]),
      )
    },

    /**
     * Deletes turns that have ended or were interrupted before these times. Of one that is in its
     * session the name is left as long as an interrupted turn is.
     */
    async prune(endedBefore: number, interruptedBefore: number): Promise<void> {
      const old = `(state = 'ended' AND state_at < ?) OR (state = 'interrupted' AND state_at < ?)`
      const times = [endedBefore, interruptedBefore]
      await db.batch([
        {
          // No lock: as above.
          sql: `DELETE FROM session WHERE ${EMPTY}
            AND (tenant_id, id) IN (SELECT tenant_id, session_id FROM talk_turn WHERE ${old})
            AND NOT EXISTS (SELECT 1 FROM talk_turn t WHERE t.tenant_id = session.tenant_id
              AND t.session_id = session.id AND NOT (${old}))`,
          args: [...times, ...times],
        },
        {
          sql: `DELETE FROM talk_turn WHERE (${old}) AND (stored = 0 OR state_at < ?)`,
          args: [...times, interruptedBefore],
        },
        // No lock: a turn that has ended does not run again.
        sql`
          DELETE FROM talk_event WHERE turn_id IN (SELECT id FROM talk_turn
            WHERE state = 'ended' AND state_at < ${endedBefore} AND user_text <> '')`,
        sql`
          UPDATE talk_turn SET user_text = '', files = '[]', images = '[]'
          WHERE state = 'ended' AND state_at < ${endedBefore} AND user_text <> ''`,
      ])
    },
  }
}

export type DetachedStore = ReturnType<typeof createDetachedStore>
