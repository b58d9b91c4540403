import { expect, test } from 'bun:test'
import { systemClock } from '../../src/core/clock.ts'
import { createLogger } from '../../src/core/log.ts'
import { sql } from '../../src/storage/db.ts'
import { KEYS_PER_DOC } from '../../src/storage/indexes.ts'
import { createLocalState } from '../../src/storage/local-state.ts'
import { openConnection } from '../../src/storage/postgres/connection.ts'
import { createReader, openPostgres } from '../../src/storage/postgres/db.ts'
import { migratePostgres } from '../../src/storage/postgres/migrate.ts'
import { MIGRATIONS } from '../../src/storage/postgres/migrations/index.ts'
import { openSharedState } from '../../src/storage/postgres/shared-state.ts'
import { createVectorGraph, knowsStrictOrder } from '../../src/storage/postgres/vector-graph.ts'
import { createVectorIndex } from '../../src/storage/postgres/vectors.ts'
import { newDoc } from '../support/indexes.ts'
import { startPostgres } from '../support/postgres.ts'

const DIMENSIONS = 16
/** A vector that is the same for the same seed. */
function noise(seed: number): Float32Array {
  let state = seed * 7_919
  const values = Array.from({ length: DIMENSIONS }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32 - 0.5
  })
  const length = Math.hypot(...values)
  return Float32Array.from(values, (value) => value / length)
}
const entries = (doc: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({
    key: doc * KEYS_PER_DOC + i,
    vector: noise(doc * KEYS_PER_DOC + i),
  }))

const { leases } = createLocalState(systemClock())

test('a graph finds what reading all vectors finds, and every one of a small tenant', async () => {
  await using server = await startPostgres('all')
  const clock = systemClock()
  const db = openPostgres({ url: server.url, clock })
  const built = Promise.withResolvers<void>()
  const write = (line: string) => line.includes('built the graph') && built.resolve()
  const log = createLogger({ level: 'info', json: true, now: () => new Date(), write })
  const connect = () => openConnection({ url: server.url, clock })
  const graph = createVectorGraph({ db, connect, clock, log, leases: () => leases })
  const reader = createReader(db)
  const asked: string[] = []
  const all: typeof reader.all = (tenantId, statement, signal) => {
    asked.push(statement.sql)
    return reader.all(tenantId, statement, signal)
  }
  const exact = createVectorIndex(reader)
  const near = createVectorIndex({ all }, graph, 0)
  const large = { tenantId: 'large', model: 'm' }
  const small = { tenantId: 'small', model: 'm' }
  await db.batch([
    ...newDoc('large', 800),
    ...newDoc('small', 4),
    ...exact.upsert(large, [...entries(1, 400), ...entries(2, 400)]),
    ...exact.upsert(small, entries(3, 4)),
  ])
  expect(await knowsStrictOrder(db)).toBe(true)
  // Until there is a graph all vectors are read, and the first search has it built.
  const byReading = await exact.search(large, noise(5), 10)
  expect(await near.search(large, noise(5), 10)).toEqual(byReading)
  await built.promise
  expect(await graph.isReady(DIMENSIONS)).toBe(true)

  asked.length = 0
  const found = await near.search(large, noise(5), 10)
  expect(found.map(({ key }) => key)).toEqual(byReading.map(({ key }) => key))
  expect(asked.filter((text) => text.includes('strict_order'))).toHaveLength(1)
  expect(await near.search(small, noise(5), 10)).toHaveLength(4)
  expect(await near.search({ tenantId: 'nobody', model: 'm' }, noise(5), 10)).toEqual([])
  await db.close()
})

test('a graph that cannot be built is tried again later, not at each search', async () => {
  await using server = await startPostgres('all')
  let now = 0
  const clock = { ...systemClock(), steady: () => now }
  const db = openPostgres({ url: server.url, clock })
  let failures = 0
  const write = (line: string) => {
    if (line.includes('not built')) failures += 1
  }
  const log = createLogger({ level: 'info', json: true, now: () => new Date(), write })
  let builds = 0
  const connect = () => {
    builds += 1
    const refuse = async () => {
      throw new Error('no space is left on the disk')
    }
    return { ...openConnection({ url: server.url, clock }), send: refuse }
  }
  const graph = createVectorGraph({ db, connect, clock, log, leases: () => leases })
  const search = async () => {
    for (let i = 0; i < 20; i++) expect(await graph.isReady(DIMENSIONS)).toBe(false)
  }
  for (const [after, minutes] of [0, 1, 10, 60, 60].entries()) {
    await search()
    expect(builds).toBe(after)
    now += minutes * 60_000
    await search()
    while (failures < after + 1) await Bun.sleep(1)
    expect(builds).toBe(after + 1)
  }
  await db.close()
})

test('of two servers one builds a graph, and the other does not drop it', async () => {
  await using server = await startPostgres('all')
  const clock = systemClock()
  const db = openPostgres({ url: server.url, clock })
  const log = createLogger({ level: 'error', json: true, now: () => new Date(), write() {} })
  const open = () => openSharedState({ db, clock, log, directUrl: null })
  const servers = [await open(), await open()]
  const asked: string[] = []
  const connect = () => {
    const connection = openConnection({ url: server.url, clock })
    const send: typeof connection.send = (statements, ...more) => {
      asked.push(...statements.map(({ sql: text }) => text.slice(0, 6)))
      return connection.send(statements, ...more)
    }
    return { ...connection, send }
  }
  const graphs = servers.map(({ leases: own }) =>
    createVectorGraph({ db, connect, clock, log, leases: () => own }),
  )
  const areReady = () => Promise.all(graphs.map((graph) => graph.isReady(DIMENSIONS)))
  while ((await areReady()).includes(false)) await Bun.sleep(1)
  expect(asked).toEqual(['SET st', 'DROP I', 'CREATE'])
  for (const one of servers) await one.close()
  await db.close()
})

test('a database whose extension is too old is refused in words', async () => {
  await using server = await startPostgres('all')
  const clock = systemClock()
  const db = openPostgres({ url: server.url, clock })
  const setVersion = (version: string) =>
    db.run(sql`UPDATE pg_extension SET extversion = ${version} WHERE extname = ${'vector'}`)
  const own = await db.get<{ version: string }>(
    sql`SELECT extversion AS version FROM pg_extension WHERE extname = ${'vector'}`,
  )
  await setVersion('0.6.2')
  const starting = migratePostgres({ url: server.url, clock, migrations: MIGRATIONS })
  await expect(starting).rejects.toThrow('version 0.6.2 of the extension vector')
  // Databases of PGlite share their extensions.
  await setVersion(own?.version ?? '')
  await db.close()
})
