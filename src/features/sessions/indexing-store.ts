import { type Db, expectRows, type Reader, type Statement, sql } from '../../storage/db.ts'
import type { TurnIndex } from '../../storage/indexes.ts'
import { INDEXED_CHARS_MAX, indexWords } from './conversation-search.ts'

interface TurnOf {
  readonly tenantId: string
  readonly sessionId: string
}

/** Statement of the batch that stores a turn, behind it: stores its words. */
export function indexNewestTurn(
  index: Pick<TurnIndex, 'put'>,
  { tenantId, sessionId, userText, reply }: TurnOf & { userText: string; reply: string },
): Statement {
  const newest = sql`
    SELECT num, (SELECT max(seq) FROM turn WHERE tenant_id = s.tenant_id AND session_id = s.id)
      AS seq
    FROM session s WHERE tenant_id = ${tenantId} AND id = ${sessionId}`
  return index.put(tenantId, newest, indexWords([userText, reply]))
}

/** Statement that stores the words of a title. */
export function indexTitle(
  index: Pick<TurnIndex, 'put'>,
  { tenantId, sessionId }: TurnOf,
  title: string | null,
): Statement {
  const place = sql`
    SELECT num, 0 AS seq FROM session WHERE tenant_id = ${tenantId} AND id = ${sessionId}`
  return index.put(tenantId, place, indexWords([title ?? '']))
}

/** A session whose turns with numbers below `below` were stored without an index. */
export interface WaitingSession extends TurnOf {
  readonly title: string | null
  readonly below: number
}

interface OldTurn {
  readonly seq: number
  readonly created_at: string
  readonly user_text: string
  readonly reply: string
}

/** Turns that one step indexes. */
const TURNS_AT_ONCE = 50

export interface IndexingStoreOptions {
  readonly db: Db
  readonly reader: Reader
  readonly index: Pick<TurnIndex, 'put'>
}

/** Indexes what was stored without an index. */
export function createIndexingStore({ db, reader, index }: IndexingStoreOptions) {
  const turnsOf = ({ tenantId, sessionId, below }: WaitingSession) =>
    reader.all<OldTurn>(
      tenantId,
      sql`
      SELECT seq, created_at,
        substr(user_text, 1, CAST(${INDEXED_CHARS_MAX} AS INTEGER)) AS user_text,
        substr(reply, 1, CAST(${INDEXED_CHARS_MAX} AS INTEGER)) AS reply
      FROM turn WHERE tenant_id = ${tenantId} AND session_id = ${sessionId} AND seq < ${below}
      ORDER BY seq DESC LIMIT ${TURNS_AT_ONCE}`,
    )

  /** Skips a turn that was replaced or deleted after it was read. */
  function indexTurn({ tenantId, sessionId }: TurnOf, turn: OldTurn): Statement {
    const place = sql`
      SELECT s.num, t.seq FROM session s
        JOIN turn t ON t.tenant_id = s.tenant_id AND t.session_id = s.id
      WHERE s.tenant_id = ${tenantId} AND s.id = ${sessionId} AND t.seq = ${turn.seq}
        AND t.created_at = ${turn.created_at}`
    return index.put(tenantId, place, indexWords([turn.user_text, turn.reply]))
  }

  return {
    /** The waiting session that was active last; null when none waits. */
    waiting: () =>
      db.get<WaitingSession>(sql`
        SELECT tenant_id AS "tenantId", id AS "sessionId", title, index_below AS below
        FROM session WHERE index_below > 0 ORDER BY last_at DESC LIMIT 1`),

    /**
     * Indexes the newest of the waiting turns, and the title with the oldest. Rejects with
     * `NotAsExpected` when the session was deleted meanwhile.
     */
    async step(session: WaitingSession): Promise<void> {
      const { tenantId, sessionId, below } = session
      const turns = await turnsOf(session)
      const statements: Statement[] = []
      for (const turn of turns) {
        statements.push(indexTurn(session, turn))
        // A long text takes milliseconds, in which streams would stand still.
        await new Promise(setImmediate)
      }
      const rest = turns.length < TURNS_AT_ONCE ? 0 : (turns.at(-1)?.seq ?? 0)
      if (rest === 0 && session.title !== null) {
        statements.push(indexTitle(index, session, session.title))
      }
      const advance = sql`
        UPDATE session SET index_below = ${rest}
        WHERE tenant_id = ${tenantId} AND id = ${sessionId} AND index_below = ${below}`
      await db.batch([expectRows(1, advance), ...statements])
    },
  }
}

export type IndexingStore = ReturnType<typeof createIndexingStore>
