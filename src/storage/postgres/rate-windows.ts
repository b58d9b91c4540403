import type { OpenWindows, Standing } from '../../core/rate-windows.ts'
import { type Db, sql } from '../db.ts'

interface Row {
  readonly used: number
  readonly ms_left: number
}

/**
 * Windows that all servers of a database count in, by the clock of the database. An event that is
 * over the limit writes nothing.
 */
export const createSharedWindows =
  (db: Pick<Db, 'get'>): OpenWindows =>
  (name, windowMs) => {
    const read = (subject: string) =>
      db.get<Row>(sql`
        SELECT used, extract(epoch FROM ends_at - now()) * 1000 AS ms_left FROM rate_window
        WHERE name = ${name} AND subject = ${subject} AND ends_at > now()`)

    async function look(subject: string, limit: number): Promise<Standing> {
      const { used, ms_left } = (await read(subject)) ?? { used: 0, ms_left: windowMs }
      return { counted: used < limit, used, msLeft: ms_left }
    }

    return {
      look,

      async count(subject, limit) {
        const row = await db.get<Row>(sql`
          INSERT INTO rate_window AS w (name, subject, used, ends_at)
          VALUES (${name}, ${subject}, 1, now() + ${windowMs} * interval '1 millisecond')
          ON CONFLICT (name, subject) DO UPDATE SET
            used = CASE WHEN w.ends_at > now() THEN w.used + 1 ELSE 1 END,
            ends_at = CASE WHEN w.ends_at > now() THEN w.ends_at ELSE excluded.ends_at END
          WHERE w.ends_at <= now() OR w.used < ${limit}
          RETURNING used, extract(epoch FROM ends_at - now()) * 1000 AS ms_left`)
        if (row) return { counted: true, used: row.used, msLeft: row.ms_left }
        return { ...(await look(subject, limit)), counted: false }
      },

      async giveBack(subject) {
        await db.get(sql`
          UPDATE rate_window SET used = used - 1
          WHERE name = ${name} AND subject = ${subject} AND used > 0 AND ends_at > now()`)
      },
    }
  }
