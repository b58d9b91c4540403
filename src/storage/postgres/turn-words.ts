import { type Reader, type Statement, sql } from '../db.ts'
import type { TurnIndex, TurnPlace, TurnTerm } from '../indexes.ts'
import { wordHashes } from '../word-hashes.ts'

/** An array of numbers as PostgreSQL writes it. */
const arrayOf = (numbers: readonly number[]) => `{${numbers.join(',')}}`

/** The index in a GIN index over hashes of words. */
export function createTurnIndex(reader: Reader): TurnIndex {
  const hashed = (tenantId: string, words: TurnTerm) => arrayOf(wordHashes(tenantId, words))
  return {
    put: (tenantId, turns, words): Statement => ({
      sql: `INSERT INTO turn_word (num, seq, words)
        SELECT num, seq, ?::text::bigint[] FROM (${turns.sql}) AS stored
        ON CONFLICT (num, seq) DO UPDATE SET words = excluded.words`,
      args: [hashed(tenantId, words), ...turns.args],
    }),

    async holders(tenantId, term, turnsMax, signal) {
      const [found] = await reader.all<{ turns: number; nums: string | null }>(
        tenantId,
        sql`
        SELECT count(*) AS turns, array_to_json(array_agg(DISTINCT num))::text AS nums FROM (
          SELECT num FROM turn_word WHERE words @> ${hashed(tenantId, term)}::text::bigint[]
          LIMIT ${turnsMax + 1}) AS found`,
        signal,
      )
      if (!found || found.turns > turnsMax) return null
      return JSON.parse(found.nums ?? '[]') as number[]
    },

    // IS TRUE keeps the index of words away: it would read every turn that holds a common one.
    async among(tenantId, term, nums, signal) {
      const rows = await reader.all<{ num: number }>(
        tenantId,
        sql`
        SELECT num FROM unnest(${arrayOf(nums)}::text::bigint[]) AS wanted (num)
        WHERE EXISTS (SELECT 1 FROM turn_word w WHERE w.num = wanted.num
          AND (w.words @> ${hashed(tenantId, term)}::text::bigint[]) IS TRUE)`,
        signal,
      )
      return rows.map(({ num }) => num)
    },

    best(tenantId, terms, nums, signal) {
      const queries = terms.map((term) => hashed(tenantId, term))
      return reader.all<TurnPlace>(
        tenantId,
        sql`
        SELECT DISTINCT ON (num) num, seq FROM (
          SELECT w.num, w.seq, (
            SELECT count(*) FROM json_array_elements_text(${JSON.stringify(queries)}::text::json)
              AS query (words) WHERE w.words @> query.words::bigint[]) AS held
          FROM unnest(${arrayOf(nums)}::text::bigint[]) AS wanted (num)
            JOIN turn_word w ON w.num = wanted.num
          WHERE w.seq > 0
          OFFSET 0) AS turns
        WHERE held > 0 ORDER BY num, held DESC, seq DESC`,
        signal,
      )
    },
  }
}
