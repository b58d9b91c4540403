import { sql } from '../../src/storage/db.ts'
import { ON_POSTGRES, type TestApp } from './app.ts'
import type { FakeClock } from './clock.ts'

/**
 * Lets time pass: moves the clock and, on PostgreSQL, the ends of what its own clock decides: the
 * windows of rate limits and the codes that are used once.
 */
export async function pass(app: Pick<TestApp, 'db'>, clock: FakeClock, ms: number): Promise<void> {
  clock.advance(ms)
  if (!ON_POSTGRES) return
  await app.db.batch([
    sql`UPDATE rate_window SET ends_at = ends_at - ${ms} * interval '1 millisecond'`,
    sql`UPDATE one_time_code SET ends_at = ends_at - ${ms} * interval '1 millisecond'`,
  ])
}
