import { type Reader, type Statement, sql } from '../db.ts'
import type { TurnIndex, TurnPlace, TurnTerm } from '../indexes.ts'
import { wordHashes } from '../word-hashes.ts'

/** Row ids are those of the sessions times this, plus the number of the turn. */
const TURNS_PER_SESSION = 2 ** 24
/**
 * Sessions between two wanted ones that are read over: finding the place of a session in the list
 * of a word takes as long as reading some thousand of its turns.
 */
const GAP_MAX = 300

const hashed = (tenantId: string, words: readonly string[]) =>
  wordHashes(tenantId, words).map((hash) => hash.toString(36))

/** FTS5's query for turns that hold all words of the term. */
const queryOf = (tenantId: string, term: TurnTerm) =>
  hashed(tenantId, term)
    .map((word) => `"${word}"`)
    .join(' AND ')

/** Spans of row ids that hold the turns of these sessions, and few others. */
function spansOf(nums: readonly number[]) {
  const spans: { from: number; to: number }[] = []
  for (const num of nums.toSorted((a, b) => a - b)) {
    const from = num * TURNS_PER_SESSION
    const to = from + TURNS_PER_SESSION - 1
    const last = spans.at(-1)
    if (last && from - last.to <= GAP_MAX * TURNS_PER_SESSION) last.to = to
    else spans.push({ from, to })
  }
  return spans
}

/** The index in a table of FTS5, which stores hashes of words and no text. */
export function createTurnIndex(reader: Reader): TurnIndex {
  return {
    put: (tenantId, turns, words): Statement => ({
      sql: `INSERT OR REPLACE INTO turn_word (rowid, terms)
        SELECT num * ${TURNS_PER_SESSION} + seq, ? FROM (${turns.sql})
        WHERE seq < ${TURNS_PER_SESSION}`,
      args: [hashed(tenantId, words).join(' '), ...turns.args],
    }),

    async holders(tenantId, term, turnsMax, signal) {
      const [found] = await reader.all<{ turns: number; nums: string }>(
        tenantId,
        sql`
        SELECT count(*) AS turns, json_group_array(DISTINCT num) AS nums FROM (
          SELECT rowid / ${TURNS_PER_SESSION} AS num FROM turn_word
          WHERE turn_word MATCH ${queryOf(tenantId, term)} LIMIT ${turnsMax + 1})`,
        signal,
      )
      return !found || found.turns > turnsMax ? null : (JSON.parse(found.nums) as number[])
    },

    async among(tenantId, term, nums, signal) {
      const rows = await reader.all<{ num: number }>(
        tenantId,
        sql`
        SELECT DISTINCT w.rowid / ${TURNS_PER_SESSION} AS num
        FROM json_each(${JSON.stringify(spansOf(nums))}) span CROSS JOIN turn_word w
        WHERE w.turn_word MATCH ${queryOf(tenantId, term)}
          AND w.rowid BETWEEN span.value ->> 'from' AND span.value ->> 'to'
          AND w.rowid / ${TURNS_PER_SESSION} IN (
            SELECT value FROM json_each(${JSON.stringify(nums)}))`,
        signal,
      )
      return rows.map(({ num }) => num)
    },

    best(tenantId, terms, nums, signal) {
      const queries = terms.map((term) => queryOf(tenantId, term))
      return reader.all<TurnPlace>(
        tenantId,
        sql`
        SELECT num, max(held * ${TURNS_PER_SESSION} + seq) % ${TURNS_PER_SESSION} AS seq FROM (
          SELECT w.rowid / ${TURNS_PER_SESSION} AS num, w.rowid % ${TURNS_PER_SESSION} AS seq,
            count(*) AS held
          FROM json_each(${JSON.stringify(queries)}) query
            CROSS JOIN json_each(${JSON.stringify(spansOf(nums))}) span
            CROSS JOIN turn_word w
          WHERE w.turn_word MATCH query.value
            AND w.rowid BETWEEN span.value ->> 'from' AND span.value ->> 'to'
            AND w.rowid / ${TURNS_PER_SESSION} IN (
              SELECT value FROM json_each(${JSON.stringify(nums)}))
          GROUP BY w.rowid)
        WHERE seq > 0 GROUP BY num`,
        signal,
      )
    },
  }
}
