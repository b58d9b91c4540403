import { type Db, expectRows, type Statement, sql, storedAsExpected } from '../../storage/db.ts'
import type { TurnIndex } from '../../storage/indexes.ts'
import { INDEXED_CHARS_MAX, indexWords } from './conversation-search.ts'

/** An `index_below` above the numbers of all turns. */
export const EVERY_TURN = 16_777_216

interface TurnOf {
  readonly tenantId: string
  readonly sessionId: string
}

/** Statement that stores the words of a title. */
export function indexTitle(
  index: Pick<TurnIndex, 'put'>,
  { tenantId, sessionId }: TurnOf,
  title: string | null,
): Statement {
  const place = sql`
    SELECT num, 0 AS seq FROM session WHERE tenant_id = ${tenantId} AND id = ${sessionId}
      AND coalesce(title, auto_title) IS NOT DISTINCT FROM ${title}`
  return index.put(tenantId, place, indexWords([title ?? '']))
}

/** A session with turns whose words are not indexed yet. */
interface WaitingSession extends TurnOf {
  readonly title: string | null
  /** The turns from `first` on and below `below` wait. */
  readonly first: number
  readonly below: number
  readonly turnCount: number
  readonly lastAt: string
}

interface WaitingTurn {
  readonly seq: number
  readonly created_at: string
  readonly user_text: string
  readonly reply: string
}

/** Sessions of one round, and turns that one statement reads. */
const SESSIONS_AT_ONCE = 64
const TURNS_AT_ONCE = 20
/** Words of one round, about 20 ms of the writing thread; long turns may exceed it. */
const WORDS_AT_ONCE = 20_000

export interface Round {
  readonly waited: number
  /** Sessions that went ahead and were not changed meanwhile, after which they would still wait. */
  readonly stored: number
  /** Whether it had as many words as a round may have. */
  readonly isFull: boolean
}

export interface IndexingStoreOptions {
  readonly db: Db
  readonly index: Pick<TurnIndex, 'put'>
}

/** Indexes turns after they were stored, many in one transaction. */
export function createIndexingStore({ db, index }: IndexingStoreOptions) {
  const waiting = (tenantId: string | null, limit: number) => {
    const columns = `SELECT tenant_id AS "tenantId", id AS "sessionId",
      coalesce(title, auto_title) AS title,
      index_from AS first, index_below AS below, turn_count AS "turnCount", last_at AS "lastAt"
      FROM session WHERE index_below > 0`
    return db.all<WaitingSession>(
      tenantId === null
        ? { sql: `${columns} LIMIT ?`, args: [limit] }
        : {
            sql: `${columns} AND tenant_id = ? ORDER BY last_at DESC LIMIT ?`,
            args: [tenantId, limit],
          },
    )
  }

  const turnsOf = ({ tenantId, sessionId, below }: WaitingSession, from: number) =>
    db.all<WaitingTurn>(sql`
      SELECT seq, created_at,
        substr(user_text, 1, CAST(${INDEXED_CHARS_MAX} AS INTEGER)) AS user_text,
        substr(reply, 1, CAST(${INDEXED_CHARS_MAX} AS INTEGER)) AS reply
      FROM turn WHERE tenant_id = ${tenantId} AND session_id = ${sessionId}
        AND seq >= ${from} AND seq < ${below}
      ORDER BY seq LIMIT ${TURNS_AT_ONCE}`)

  /** Fails when the turn was replaced or deleted after it was read. */
  function indexTurn({ tenantId, sessionId }: TurnOf, turn: WaitingTurn, words: string[]) {
    const place = sql`
      SELECT s.num, t.seq FROM session s
        JOIN turn t ON t.tenant_id = s.tenant_id AND t.session_id = s.id
      WHERE s.tenant_id = ${tenantId} AND s.id = ${sessionId} AND t.seq = ${turn.seq}
        AND t.created_at = ${turn.created_at}`
    return expectRows(1, index.put(tenantId, place, words))
  }

  /**
   * The batch that indexes the oldest waiting turns, and the title before the first one. Its last
   * statement says that none waits any longer, which changes nothing where a turn was stored
   * meanwhile: what was read counts all the same, or a busy session would be read again and again.
   */
  async function batchOf(session: WaitingSession, wordsMax: number) {
    const { tenantId, sessionId, title, first, below, turnCount, lastAt } = session
    const statements: Statement[] = []
    if (first === 0 && title !== null) statements.push(indexTitle(index, session, title))
    let [words, next, isLast] = [0, first, false]
    while (!isLast && words < wordsMax) {
      const turns = await turnsOf(session, next)
      isLast = turns.length < TURNS_AT_ONCE
      for (const turn of turns) {
        const found = indexWords([turn.user_text, turn.reply])
        statements.push(indexTurn(session, turn, found))
        words += found.length
        next = turn.seq + 1
        // A long text takes milliseconds, in which streams would stand still.
        await new Promise(setImmediate)
      }
    }
    const advance = sql`
      UPDATE session SET index_from = ${next}
      WHERE tenant_id = ${tenantId} AND id = ${sessionId} AND index_from = ${first}
        AND index_below = ${below}`
    // The last two change with each turn: one that was stored meanwhile is not taken for indexed.
    const settle = sql`
      UPDATE session SET index_below = 0
      WHERE tenant_id = ${tenantId} AND id = ${sessionId} AND index_from = ${next}
        AND index_below = ${below} AND turn_count = ${turnCount} AND last_at = ${lastAt}`
    const batch = [expectRows(1, advance), ...statements]
    return { words, batch: isLast ? [...batch, settle] : batch }
  }

  /** False when another server was first, a turn was replaced, or one was stored meanwhile. */
  async function wentAhead(batch: readonly Statement[]): Promise<boolean> {
    let isWhole = false
    const work = db.batch(batch).then((changes) => {
      isWhole = changes.at(-1)?.changes !== 0
    })
    await storedAsExpected(work)
    return isWhole
  }

  return {
    /** Whether any turn waits. */
    waits: async (): Promise<boolean> => (await waiting(null, 1)).length > 0,

    /** Indexes some of the turns that wait, of one tenant those of its newest sessions first. */
    async round(tenantId: string | null): Promise<Round> {
      const sessions = await waiting(tenantId, SESSIONS_AT_ONCE)
      const batches: Statement[][] = []
      let left = WORDS_AT_ONCE
      for (const session of sessions) {
        if (left <= 0) break
        const { words, batch } = await batchOf(session, left)
        batches.push(batch)
        left -= words
      }
      const results = await Promise.all(batches.map(wentAhead))
      const stored = results.filter(Boolean).length
      return { waited: sessions.length, stored, isFull: left <= 0 }
    },
  }
}

export type IndexingStore = ReturnType<typeof createIndexingStore>
