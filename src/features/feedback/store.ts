import { DAY_MS } from '../../core/clock.ts'
import {
  type Db,
  expectRows,
  locked,
  type Reader,
  type Statement,
  sql,
  storedAsExpected,
} from '../../storage/db.ts'

/** A thumb of one giver for one answer. */
export interface NewFeedback {
  readonly id: string
  readonly tenantId: string
  readonly sessionId: string
  readonly seq: number
  /** Who gives it: a person, a key, or the visitor of the session. */
  readonly giver: string
  /** Only an answer of this app; null: of any. */
  readonly appId: string | null
  readonly rating: number
  readonly reason: string | null
  readonly text: string | null
  readonly shared: boolean
  readonly ts: number
}

export interface FeedbackFilter {
  readonly tenantId: string
  readonly appId: string | null
  /** Epoch milliseconds, inclusive. */
  readonly since: number
}

export interface FeedbackPage {
  readonly rating: number | null
  /** Only those before this id. */
  readonly before: string | null
  readonly limit: number
}

export interface FeedbackRow {
  readonly id: string
  readonly session_id: string
  readonly seq: number
  readonly app_id: string | null
  readonly rating: number
  readonly reason: string | null
  readonly text: string | null
  readonly ts: number
}

export interface FeedbackCount {
  readonly app_id: string | null
  /** Days since the epoch. */
  readonly day: number
  readonly up: number
  readonly down: number
}

const matching = ({ tenantId, appId, since }: FeedbackFilter): Statement => sql`
  f.tenant_id = ${tenantId} AND f.ts >= ${since}
  AND (CAST(${appId} AS TEXT) IS NULL OR f.app_id = ${appId})`

/** Thumbs by tenant, session, turn and giver. `reader` reads what grows with them. */
export function createFeedbackStore(db: Db, reader: Reader) {
  return {
    /**
     * The newest one of a giver holds. False when the turn is not there; then `before`, which goes
     * before it in one transaction, is not stored either.
     */
    put(given: NewFeedback, before: readonly Statement[] = []): Promise<boolean> {
      const { tenantId, sessionId, seq, appId } = given
      // A turn that is replaced takes its thumbs along.
      const put = locked('session', tenantId, sessionId)`
        INSERT INTO feedback (id, tenant_id, session_id, seq, giver, app_id, rating, reason, text,
          shared, ts)
        SELECT ${given.id}, tenant_id, session_id, seq, ${given.giver}, app_id,
          CAST(${given.rating} AS INTEGER), ${given.reason}, ${given.text},
          CAST(${Number(given.shared)} AS INTEGER), CAST(${given.ts} AS BIGINT)
        FROM turn WHERE tenant_id = ${tenantId} AND session_id = ${sessionId} AND seq = ${seq}
          AND (CAST(${appId} AS TEXT) IS NULL OR app_id = ${appId})
        ON CONFLICT (tenant_id, session_id, seq, giver) DO UPDATE SET id = excluded.id,
          rating = excluded.rating, reason = excluded.reason, text = excluded.text,
          shared = excluded.shared, ts = excluded.ts`
      return storedAsExpected(db.batch([...before, expectRows(1, put)]))
    },

    /** Whether this giver has no thumb down for the turn yet, as a condition. */
    isNotDown: ({ tenantId, sessionId, seq, giver }: NewFeedback): Statement => sql`
      NOT EXISTS (SELECT 1 FROM feedback WHERE tenant_id = ${tenantId}
        AND session_id = ${sessionId} AND seq = ${seq} AND giver = ${giver} AND rating < 0)`,

    /** The app that answered. */
    async appOf({ tenantId, sessionId, seq }: NewFeedback): Promise<string | null> {
      const row = await db.get<{ app_id: string | null }>(sql`
        SELECT app_id FROM turn
        WHERE tenant_id = ${tenantId} AND session_id = ${sessionId} AND seq = ${seq}`)
      return row?.app_id ?? null
    },

    async hasTurn({ tenantId, sessionId, seq, appId }: NewFeedback): Promise<boolean> {
      const row = await db.get(sql`
        SELECT 1 AS one FROM turn
        WHERE tenant_id = ${tenantId} AND session_id = ${sessionId} AND seq = ${seq}
          AND (CAST(${appId} AS TEXT) IS NULL OR app_id = ${appId})`)
      return row !== null
    },

    async remove({ tenantId, sessionId, seq, giver }: NewFeedback): Promise<void> {
      await db.run(sql`
        DELETE FROM feedback WHERE tenant_id = ${tenantId} AND session_id = ${sessionId}
          AND seq = ${seq} AND giver = ${giver}`)
    },

    counts(filter: FeedbackFilter, signal: AbortSignal): Promise<FeedbackCount[]> {
      const { sql: text, args } = matching(filter)
      const statement = {
        sql: `SELECT f.app_id, f.ts / ${DAY_MS} AS day,
            sum(CASE WHEN f.rating > 0 THEN 1 ELSE 0 END) AS up,
            sum(CASE WHEN f.rating < 0 THEN 1 ELSE 0 END) AS down
          FROM feedback f WHERE ${text} GROUP BY 1, 2`,
        args,
      }
      return reader.all<FeedbackCount>(filter.tenantId, statement, signal)
    },

    /** Newest first. The text of a person's talk is read only where that person shares it. */
    items(
      filter: FeedbackFilter,
      { rating, before, limit }: FeedbackPage,
      signal: AbortSignal,
    ): Promise<FeedbackRow[]> {
      const { sql: text, args } = matching(filter)
      const statement = {
        sql: `SELECT f.id, f.session_id, f.seq, f.app_id, f.rating, f.reason, f.ts,
            CASE WHEN s.user_id IS NULL OR f.shared = 1 THEN f.text END AS text
          FROM feedback f
            JOIN session s ON s.tenant_id = f.tenant_id AND s.id = f.session_id
          WHERE ${text} AND (CAST(? AS TEXT) IS NULL OR f.id < ?)
            AND (CAST(? AS BIGINT) IS NULL OR f.rating = ?)
          ORDER BY f.id DESC LIMIT ${limit}`,
        args: [...args, before, before, rating, rating],
      }
      return reader.all<FeedbackRow>(filter.tenantId, statement, signal)
    },
  }
}

export type FeedbackStore = ReturnType<typeof createFeedbackStore>
