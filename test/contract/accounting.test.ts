import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { systemClock } from '../../src/core/clock.ts'
import { DatabaseAway } from '../../src/core/errors.ts'
import { createLogger } from '../../src/core/log.ts'
import { createLogStore, type WaitingRow } from '../../src/features/logs/store.ts'
import { addToSum, keyOfSum } from '../../src/features/usage/service.ts'
import { COUNT_MAX, createUsageStore, type UsageSum } from '../../src/features/usage/store.ts'
import { createWriteBehindQueue, createWriteBehindSums } from '../../src/jobs/write-behind.ts'
import { type Db, type Reader, sql } from '../../src/storage/db.ts'
import { MIGRATIONS as OF_SQLITE } from '../../src/storage/migrations/index.ts'
import { openPostgres } from '../../src/storage/postgres/db.ts'
import { migratePostgres } from '../../src/storage/postgres/migrate.ts'
import { MIGRATIONS } from '../../src/storage/postgres/migrations/index.ts'
import { openSqlite } from '../../src/storage/sqlite/db.ts'
import { migrate } from '../../src/storage/sqlite/migrate.ts'
import { startPostgres } from '../support/postgres.ts'
import { type TempFolder, tempFolder } from '../support/temp.ts'

const WRITER = new URL('../../src/storage/sqlite/writer.ts', import.meta.url).href
const clock = systemClock()
const noted: string[] = []
const log = createLogger({
  ...{ level: 'error', json: true, now: () => new Date(0) },
  write: (line) => void noted.push(line),
})

const ADAPTERS = [
  {
    name: 'sqlite',
    open: (folder: TempFolder): Promise<Db> => {
      const file = { path: folder.file('test.db'), extensions: [] }
      migrate(file, OF_SQLITE, 'stamp')
      return openSqlite(file, WRITER, ['tenant'])
    },
  },
  {
    name: 'postgres',
    async open(): Promise<Db> {
      const { url } = await startPostgres()
      await migratePostgres({ url, clock, migrations: MIGRATIONS })
      return openPostgres({ url, clock })
    },
  },
]

const TENANTS = Array.from({ length: 9 }, (_, i) => `tenant-${i}`)
const used = (tenantId: string, more: Partial<UsageSum> = {}): UsageSum => ({
  ...{ tenantId, day: 20_000, keyId: 'k', appId: '', channel: 'platform' as const, calls: 1 },
  ...{ source: 'api' as const, begun: 1 },
  ...{ inputTokens: 10, outputTokens: 5, usedAt: 1, ...more },
})
const answered = (tenantId: string, id: string): WaitingRow => ({
  ...{ id, tenantId, ts: 1, appId: null, deviceId: null, endpoint: '/v1/agent', status: 200 },
  ...{ latencyMs: 1, sessionId: null, textChars: null, errorClass: null, channel: null },
  ...{ keyId: null, firstMs: null, totalMs: null, isTaken: false },
})

for (const adapter of ADAPTERS) {
  describe(adapter.name, () => {
    let folder: TempFolder
    let db: Db
    /** What becomes of the next batches: their answer is lost, or they never arrive. */
    let next: ('lost' | 'away')[] = []
    /** Calls of `batch`. */
    let batches = 0
    const shaky = (): Db => ({
      ...db,
      async batch(statements) {
        batches += 1
        const fate = next.shift()
        if (fate === 'away') throw new DatabaseAway('lost', 'connection lost')
        const changes = await db.batch(statements)
        if (fate === 'lost') throw new DatabaseAway('lost', 'connection lost')
        return changes
      },
    })
    const sumsOf = () => {
      const store = createUsageStore(shaky(), null as unknown as Reader, crypto.randomUUID())
      return createWriteBehindSums<UsageSum>({
        ...{ clock, log, name: 'usage', keyOf: keyOfSum, addTo: addToSum },
        write: (sums, number) => store.write(sums, number, 1),
      })
    }
    const stored = async () => {
      const rows = await db.all<{ tenantId: string; input: number; calls: number }>(sql`
        SELECT tenant_id AS "tenantId", sum(input_tokens) AS input, sum(calls) AS calls
        FROM usage_day GROUP BY tenant_id`)
      const keys = await db.all<{ tenantId: string; input: number; calls: number }>(sql`
        SELECT tenant_id AS "tenantId", sum(input_tokens) AS input, sum(calls) AS calls
        FROM usage_key_day GROUP BY tenant_id`)
      const byTenant = (list: typeof rows) =>
        Object.fromEntries(list.map(({ tenantId, input, calls }) => [tenantId, [input, calls]]))
      expect(byTenant(keys)).toEqual(byTenant(rows))
      return byTenant(rows)
    }
    const each = (value: number[], tenants = TENANTS) =>
      Object.fromEntries(tenants.map((tenant) => [tenant, value]))

    beforeAll(async () => {
      folder = tempFolder()
      db = await adapter.open(folder)
    })
    afterAll(async () => {
      await db.close()
      folder[Symbol.dispose]()
    })

    async function begin() {
      next = []
      batches = 0
      noted.length = 0
      await db.run(sql`DELETE FROM tenant`)
      await db.run(sql`DELETE FROM request_log`)
      await db.batch(
        TENANTS.map((id) => sql`INSERT INTO tenant (id, created_at) VALUES (${id}, ${'now'})`),
      )
    }

    test('sums whose answer was lost are counted once, and later ones go on', async () => {
      await begin()
      const sums = sumsOf()
      next = ['lost', 'lost']
      for (const tenant of TENANTS) sums.add(used(tenant))
      await sums.flush()
      for (const tenant of TENANTS) sums.add(used(tenant))
      await sums.flush()
      await sums.close()
      expect(await stored()).toEqual(each([20, 2]))
    })

    test('the one sum that cannot be stored is dropped, and those of others are not', async () => {
      await begin()
      const sums = sumsOf()
      for (const tenant of TENANTS) sums.add(used(tenant))
      sums.add(used('tenant-4', { appId: 'x', inputTokens: Number.NaN }))
      sums.add(used('no-such-tenant'))
      await sums.flush()
      await sums.close()
      expect(await stored()).toEqual(each([10, 1]))
      expect(noted.filter((line) => line.includes('row dropped'))).toHaveLength(2)
      sums.add(used('tenant-0'))
      await sums.flush()
      expect((await stored())['tenant-0']).toEqual([20, 2])
    })

    test('nothing is dropped or counted twice while the database is away', async () => {
      await begin()
      const sums = sumsOf()
      next = Array.from({ length: 8 }, () => 'away')
      for (let second = 0; second < 8; second++) {
        for (const tenant of TENANTS) sums.add(used(tenant))
        await sums.flush()
      }
      expect(await stored()).toEqual({})
      expect(noted.filter((line) => line.includes('row dropped'))).toEqual([])
      await sums.flush()
      expect(await stored()).toEqual(each([80, 8]))
    })

    test('a database that goes away while a bad sum is looked for loses nothing else', async () => {
      await begin()
      const sums = sumsOf()
      for (const tenant of TENANTS) sums.add(used(tenant))
      sums.add(used('no-such-tenant'))
      await sums.flush()
      await db.run(sql`DELETE FROM usage_day`)
      for (let at = 0; at < 12; at++) {
        next = [...Array.from({ length: at }, () => 'lost' as const), 'away']
        await sums.flush()
      }
      next = []
      await sums.close()
      expect(await stored()).toEqual(each([10, 1]))
    })

    test('a sum stays at its largest value', async () => {
      await begin()
      const sums = sumsOf()
      const most = { calls: COUNT_MAX, inputTokens: 2 ** 53 - 1, outputTokens: 2 ** 53 - 1 }
      for (let times = 0; times < 3; times++) {
        sums.add(used('tenant-0', most))
        await sums.flush()
      }
      expect(await stored()).toEqual({ 'tenant-0': [COUNT_MAX, COUNT_MAX] })
      expect(noted).toEqual([])
    })

    test('log rows whose answer was lost are there once, and later ones are written', async () => {
      await begin()
      const store = createLogStore(shaky(), null as unknown as Reader)
      const rows = createWriteBehindQueue({ clock, log, name: 'log', write: store.write })
      next = ['lost']
      for (const id of ['a', 'b']) rows.add(answered('tenant-0', id))
      await rows.flush()
      rows.add(answered('tenant-1', 'c'))
      await rows.close()
      const ids = await db.all<{ id: string }>(sql`SELECT id FROM request_log ORDER BY id`)
      expect(ids.map(({ id }) => id)).toEqual(['a', 'b', 'c'])
      expect(batches).toBe(3)
    })
  })
}
