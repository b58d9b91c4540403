import { expect, test } from 'bun:test'
import { systemClock } from '../../src/core/clock.ts'
import { createDeliveryStore } from '../../src/features/webhooks/delivery-store.ts'
import type { Db, Statement } from '../../src/storage/db.ts'
import { openPostgres } from '../../src/storage/postgres/db.ts'
import { startPostgres } from '../support/postgres.ts'

const WEBHOOKS = 500
const DELIVERIES = 20_000

const FILL = [
  `INSERT INTO tenant (id, name, created_at)
    SELECT 't' || g, 'n', 'x' FROM generate_series(0, 99) g`,
  `INSERT INTO webhook (id, tenant_id, name, url, events, format, include_reply, enabled,
      secret_sealed, secret_tail, created_at)
    SELECT 'w' || g, 't' || g % 100, 'n', 'u', '[]', 'json', 0, 1, CAST('' AS bytea), 'x', 'x'
    FROM generate_series(0, ${WEBHOOKS - 1}) g`,
  `INSERT INTO webhook_delivery (id, tenant_id, webhook_id, event, payload, at, state, due_at)
    SELECT 'd' || g, 't' || g % 100, 'w' || g % ${WEBHOOKS}, 'e', 'p', 'x', 'waiting', g
    FROM generate_series(0, ${DELIVERIES - 1}) g`,
  'ANALYZE',
]

test('PostgreSQL looks for what is due once a webhook, not once a row', async () => {
  await using database = await startPostgres('all')
  const db = await openPostgres({ url: database.url, clock: systemClock() })
  try {
    for (const text of FILL) await db.run({ sql: text, args: [] })
    const asked: Statement[] = []
    const all = async (statement: Statement) => {
      asked.push(statement)
      return []
    }
    await createDeliveryStore({ all } as unknown as Db).due(DELIVERIES, 100)
    expect(asked).toHaveLength(1)
    for (const { sql, args } of asked) {
      const plan = await db.all<object>({ sql: `EXPLAIN ${sql}`, args })
      const steps = plan.flatMap((row) => Object.values(row).map(String))
      expect(steps.length).toBeGreaterThan(10)
      expect(steps.filter((step) => /Filter: .*SubPlan/.test(step))).toEqual([])
    }
    // The two oldest of each webhook.
    const due = await createDeliveryStore(db).due(DELIVERIES, 2 * WEBHOOKS)
    expect(due).toHaveLength(2 * WEBHOOKS)
    expect(new Set(due.map(({ dueAt }) => dueAt)).size).toBe(2 * WEBHOOKS)
    expect(Math.max(...due.map(({ dueAt }) => dueAt))).toBe(2 * WEBHOOKS - 1)
  } finally {
    await db.close()
  }
})
