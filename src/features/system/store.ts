import { DAY_MS } from '../../core/clock.ts'
import { type Db, type Statement, sql } from '../../storage/db.ts'

/** Settings of the whole server from the console; every value is sealed. */
export function createSystemStore(db: Db) {
  return {
    /** All settings. */
    all: () =>
      db.all<{ name: string; value_sealed: Uint8Array }>(
        sql`SELECT name, value_sealed FROM system_setting`,
      ),

    /** How many people signed in on a UTC day, or used the console on it. */
    async peopleOn(day: number): Promise<number> {
      const since = new Date(day * DAY_MS).toISOString()
      const row = await db.get<{ people: number }>(sql`
        SELECT count(*) AS people FROM "user" u WHERE u.signed_in_at >= ${since}
          OR EXISTS (SELECT 1 FROM usage_person_day d WHERE d.user_id = u.id AND d.day = ${day})`)
      return row?.people ?? 0
    },

    /** Stores all changes or none; null removes a setting. */
    async write(changes: ReadonlyMap<string, Uint8Array | null>): Promise<void> {
      if (changes.size > 0)
        await db.batch([...changes].map(([name, sealed]) => change(name, sealed)))
    },
  }
}

const change = (name: string, sealed: Uint8Array | null): Statement =>
  sealed === null
    ? sql`DELETE FROM system_setting WHERE name = ${name}`
    : sql`INSERT INTO system_setting (name, value_sealed) VALUES (${name}, ${sealed})
        ON CONFLICT (name) DO UPDATE SET value_sealed = excluded.value_sealed`

export type SystemStore = ReturnType<typeof createSystemStore>
