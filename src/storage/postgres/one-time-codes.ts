import type { OpenCodes } from '../../core/one-time-codes.ts'
import { type Db, sql } from '../db.ts'

interface Row {
  readonly value: string
}

/** Codes that all servers of a database take, each once; they end by the database's clock. */
export const createSharedCodes =
  (db: Pick<Db, 'get'>): OpenCodes =>
  (kind, { ttlMs, countMax }) => {
    const textOf = (row: Row | null) => row?.value ?? null

    /**
     * Removes the oldest of the owner with the most. Some that come at the same time may remove the
     * same one; the next one removes what is too many then.
     */
    const makeRoom = () =>
      db.get(sql`
        DELETE FROM one_time_code WHERE kind = ${kind} AND name IN (
          SELECT name FROM one_time_code WHERE kind = ${kind} AND owner = (
            SELECT owner FROM one_time_code WHERE kind = ${kind}
            GROUP BY owner ORDER BY count(*) DESC LIMIT 1)
          ORDER BY ends_at LIMIT greatest(0, 1 - ${countMax} + (
            SELECT count(*) FROM one_time_code WHERE kind = ${kind})))`)

    return {
      async put(name, value, owner = '') {
        await makeRoom()
        await db.get(sql`
          INSERT INTO one_time_code (kind, name, value, owner, tries, ends_at)
          VALUES (${kind}, ${name}, ${value}, ${owner}, 0,
            now() + ${ttlMs} * interval '1 millisecond')
          ON CONFLICT (kind, name) DO UPDATE SET value = excluded.value, owner = excluded.owner,
            tries = 0, ends_at = excluded.ends_at`)
      },

      read: async (name) =>
        textOf(
          await db.get<Row>(sql`
            SELECT value FROM one_time_code
            WHERE kind = ${kind} AND name = ${name} AND ends_at > now()`),
        ),

      take: async (name) =>
        textOf(
          await db.get<Row>(sql`
            DELETE FROM one_time_code
            WHERE kind = ${kind} AND name = ${name} AND ends_at > now() RETURNING value`),
        ),

      attempt: async (name, triesMax) =>
        textOf(
          await db.get<Row>(sql`
            UPDATE one_time_code SET tries = tries + 1
            WHERE kind = ${kind} AND name = ${name} AND ends_at > now() AND tries < ${triesMax}
            RETURNING value`),
        ),
    }
  }
