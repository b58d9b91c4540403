import { type Db, type Statement, sql } from '../../storage/db.ts'

/** What the console sets for the whole server, each value sealed. */
export function createSystemStore(db: Db) {
  return {
    /** All that is set. */
    all: () =>
      db.all<{ name: string; value_sealed: Uint8Array }>(
        sql`SELECT name, value_sealed FROM system_setting`,
      ),

    /** Stores all of it or nothing; null removes a setting. */
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
