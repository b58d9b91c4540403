import type { Clock } from '../core/clock.ts'
import { createSystemStore } from '../features/system/store.ts'
import { openPostgres } from '../storage/postgres/db.ts'
import { migratePostgres } from '../storage/postgres/migrate.ts'
import { MIGRATIONS } from '../storage/postgres/migrations/index.ts'
import { openSharedState } from '../storage/postgres/shared-state.ts'
import type { OpenedStorage } from './storage.ts'

export { UnusableDatabase } from '../storage/postgres/migrate.ts'

export interface PostgresParts {
  readonly clock: Clock
  /** May lead through a pooler. */
  readonly url: string
  /** Leads to the server itself, for what a pooler cannot do; null: `url` may do so, or not. */
  readonly directUrl: string | null
}

/** Waits for the database, migrates it and opens it. Throws `UnusableDatabase`. */
export async function openPostgresStorage({ clock, url, directUrl }: PostgresParts) {
  await migratePostgres({ url: directUrl ?? url, clock, migrations: MIGRATIONS })
  const db = openPostgres({ url, clock })
  const opened: OpenedStorage = {
    db,
    openShared: (log) => openSharedState({ db, clock, log, directUrl }),
    reader: { all: (_, statement) => db.all(statement), close: async () => {} },
    vectors: {
      upsert: () => [],
      remove: () => [],
      search: async () => [],
      read: async () => [],
      cosines: async () => [],
    },
    words: { upsert: () => [], remove: () => [], search: async () => [] },
  }
  return {
    ...opened,
    sealedSettings: createSystemStore(db).all,
  }
}
