import { type Db, type Statement, sql } from '../../storage/db.ts'

/** Settings of the whole server from the console; every value is sealed. */
export function createSystemStore(db: Db) {
  return {
    /** All settings. */
    all: () =>
      db.all<{ name: string; value_sealed: Uint8Array }>(
        sql`SELECT name, value_sealed FROM system_setting`,
      ),

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
