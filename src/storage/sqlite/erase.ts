import type { Database } from 'bun:sqlite'
import { type Db, type Statement, sql } from '../db.ts'
import { KEYS_PER_DOC } from '../indexes.ts'

/** Leaf pages of a word index that one statement rewrites; writes of turns go between two. */
const MERGED_PAGES = 256
/** Ends a merge that new documents begin anew again and again; the next one goes on. */
const MERGES_MAX = 2_000
/** The same at a stop, which somebody waits for. */
const LAST_MERGES_MAX = 50

/** A database up to this size is compacted in 0.1 s, while writes wait. */
const COMPACTED_BYTES_MAX = 32 * 1024 ** 2

/**
 * The pages in which FTS5 notes the entries that were deleted of a segment: their ids have a bit
 * above all others (`FTS5_TOMBSTONE_ROWID` in fts5_index.c).
 */
const FIRST_TOMBSTONE = 2 ** 53

/** Holds hashes, which tell nothing; for one deleted turn its whole index would be rewritten. */
export const HASHED_INDEX = 'turn_word'

/**
 * The word indexes that note deleted entries and keep their words, which can be read, until
 * segments are merged.
 */
export const WORD_INDEXES = sql`
  SELECT name FROM sqlite_schema
  WHERE sql LIKE 'CREATE VIRTUAL TABLE%USING fts5%' AND sql LIKE '%contentless_delete%'
    AND name <> ${HASHED_INDEX}`

/** Whether a word index still has words of deleted entries. */
export const holdsDeletedWords = (index: string): Statement => ({
  sql: `SELECT 1 AS found FROM ${index}_data WHERE id >= ? LIMIT 1`,
  args: [FIRST_TOMBSTONE],
})

/** A negative number merges all segments, and goes on with a merge that has begun. */
const mergeSome = (index: string): Statement => ({
  sql: `INSERT INTO ${index} (${index}, rank) VALUES ('merge', ?)`,
  args: [-MERGED_PAGES],
})

const DELETES = /^\s*DELETE\b/i

export interface EraserParts {
  readonly db: Pick<Db, 'all' | 'get' | 'run'>
  /** On the writing connection, between two groups of writes: `tidyFile`. */
  readonly tidy: (compact: boolean) => Promise<boolean>
}

/**
 * Takes deleted data from the disk. A deleted row is overwritten at once (`secure_delete`); left
 * are the words of a word index until its segments are merged, copies of rows in the unused middle
 * of pages, and old pages in the write-ahead log.
 */
export function createEraser({ db, tidy }: EraserParts) {
  let written = true
  let deleted = false
  let isFirst = true
  let running: Promise<void> | null = null

  /** False when it was stopped before the end. */
  async function mergeWords(mergesMax: number, signal?: AbortSignal): Promise<boolean> {
    let merges = 0
    for (const { name } of await db.all<{ name: string }>(WORD_INDEXES)) {
      while (await db.get(holdsDeletedWords(name))) {
        if (merges++ === mergesMax || signal?.aborted) return false
        await db.run(mergeSome(name))
      }
    }
    return true
  }

  async function work(mergesMax: number, signal?: AbortSignal): Promise<void> {
    if (!written) return
    // An earlier process may have ended before it has erased what was deleted.
    const compact = deleted || isFirst
    try {
      isFirst = false
      deleted = false
      if (compact && !(await mergeWords(mergesMax, signal))) deleted = true
      if (signal?.aborted) return
      written = false
      if (!(await tidy(compact))) written = true
    } catch (error) {
      written = true
      deleted ||= compact
      throw error
    }
  }

  const erase = (mergesMax: number, signal?: AbortSignal) => {
    running ??= work(mergesMax, signal).finally(() => {
      running = null
    })
    return running
  }

  return {
    /** To be called with every batch that was stored. */
    stored(batch: readonly Statement[], changes: readonly number[]): void {
      written = true
      deleted ||= batch.some(({ sql }, i) => changes[i] !== 0 && DELETES.test(sql))
    },
    erase: (signal: AbortSignal) => erase(MERGES_MAX, signal),
    /** At a stop: what takes longer is left to the next start. */
    eraseLast: async () => {
      await running?.catch(() => {})
      if (deleted) await erase(LAST_MERGES_MAX)
    },
  }
}

/**
 * Rewrites a database that is small enough, where rows were deleted, and empties the write-ahead
 * log. False when a reader holds the log.
 */
export function tidyFile(db: Database, compact: boolean): boolean {
  const bytes = numberOf(db, 'page_count') * numberOf(db, 'page_size')
  if (compact && bytes <= COMPACTED_BYTES_MAX) db.run('VACUUM')
  const busyMs = numberOf(db, 'busy_timeout')
  try {
    // Writes would wait as long as the slowest search.
    db.run('PRAGMA busy_timeout = 0')
    return numberOf(db, 'wal_checkpoint(TRUNCATE)') === 0
  } finally {
    db.run(`PRAGMA busy_timeout = ${busyMs}`)
  }
}

/** Removes from a copy of the database what the server has not erased yet. */
export function eraseDeleted(copy: Database): void {
  copy.run('PRAGMA foreign_keys = ON')
  const has = (table: string) => copy.query('SELECT 1 FROM sqlite_schema WHERE name = ?').get(table)
  let removed = 0
  if (has('kb_vector_code')) {
    for (const statement of REMOVE_OLD) removed += copy.run(statement).changes
  }
  for (const { name } of copy
    .query<{ name: string }, string[]>(WORD_INDEXES.sql)
    .all(HASHED_INDEX)) {
    const { sql, args } = holdsDeletedWords(name)
    if (!copy.query(sql).get(...(args as number[]))) continue
    copy.run(`INSERT INTO ${name} (${name}) VALUES ('optimize')`)
    removed++
  }
  if (removed > 0) copy.run('VACUUM')
}

/** Documents that nobody sees any more, with their entries in both indexes. */
const KEYS_OF_OLD = `
  SELECT c.doc_num * ${KEYS_PER_DOC} + c.seq FROM kb_doc d JOIN kb_chunk c ON c.doc_num = d.num
  WHERE d.stage <> 'live' AND d.stage = 'old'`
const REMOVE_OLD = [
  `DELETE FROM kb_word WHERE rowid IN (${KEYS_OF_OLD})`,
  `DELETE FROM kb_vector WHERE key IN (${KEYS_OF_OLD})`,
  `DELETE FROM kb_vector_code WHERE doc_num IN (SELECT num FROM kb_doc
    WHERE stage <> 'live' AND stage = 'old')`,
  `DELETE FROM kb_doc WHERE stage <> 'live' AND stage = 'old'`,
]

/** The first column of the answer to a pragma. */
function numberOf(db: Database, pragma: string): number {
  return Number(db.query<unknown[], []>(`PRAGMA ${pragma}`).values()[0]?.[0])
}
