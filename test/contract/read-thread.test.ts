import { expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { sql } from '../../src/storage/db.ts'
import { migrate } from '../../src/storage/sqlite/migrate.ts'
import { createReadThread } from '../../src/storage/sqlite/read-thread.ts'
import { tempFolder } from '../support/temp.ts'

const READER = new URL('../../src/storage/sqlite/reader.ts', import.meta.url).href

test('a database file that cannot be opened at first is read once it can', async () => {
  using folder = tempFolder()
  const file = { path: `${folder.path}/later/test.db`, extensions: [] }
  const reader = createReadThread(file, READER)
  const read = () => reader.all('tenant', sql`SELECT x FROM item`)
  await expect(read()).rejects.toThrow()
  mkdirSync(`${folder.path}/later`)
  const item = { name: '0001', sql: "CREATE TABLE item (x TEXT); INSERT INTO item VALUES ('a')" }
  migrate(file, [item], 'stamp')
  expect(await read()).toEqual([{ x: 'a' }])
  await reader.close()
})

test('a read thread that never opened closes without an error', async () => {
  using folder = tempFolder()
  const reader = createReadThread({ path: `${folder.path}/no/test.db`, extensions: [] }, READER)
  await expect(reader.all('tenant', sql`SELECT 1`)).rejects.toThrow()
  await reader.close()
  await expect(reader.all('tenant', sql`SELECT 1`)).rejects.toThrow('closed')
})

test('a read thread that dies fails its reads and is replaced', async () => {
  using folder = tempFolder()
  const file = { path: folder.file('test.db'), extensions: [] }
  migrate(file, [{ name: '0001', sql: 'CREATE TABLE item (x TEXT)' }], 'stamp')
  const mortal = folder.file('reader.ts')
  await Bun.write(
    mortal,
    `import ${JSON.stringify(READER)}
    const { onmessage } = self
    self.onmessage = (event) => {
      if (event.data.statement?.sql === 'die') throw new Error('lost')
      onmessage(event)
    }`,
  )
  const reader = createReadThread(file, Bun.pathToFileURL(mortal).href)
  const read = () => reader.all('tenant', sql`SELECT x FROM item`)
  expect(await read()).toEqual([])
  await expect(reader.all('tenant', { sql: 'die', args: [] })).rejects.toThrow('lost')
  expect(await read()).toEqual([])
  await reader.close()
})

test('a read thread that ends quietly, twice, fails its reads and is replaced', async () => {
  using folder = tempFolder()
  const file = { path: folder.file('test.db'), extensions: [] }
  migrate(file, [{ name: '0001', sql: 'CREATE TABLE item (x TEXT)' }], 'stamp')
  const mortal = folder.file('reader.ts')
  await Bun.write(
    mortal,
    `import ${JSON.stringify(READER)}
    const { onmessage } = self
    self.onmessage = (event) => {
      if (event.data.statement?.sql === 'leave') process.exit(0)
      onmessage(event)
    }`,
  )
  const faults: unknown[] = []
  const reader = createReadThread(file, Bun.pathToFileURL(mortal).href, {
    onError: (fault) => faults.push(fault),
  })
  const read = () => reader.all('tenant', sql`SELECT x FROM item`)
  const leave = () => reader.all('tenant', { sql: 'leave', args: [] })
  for (let time = 1; time <= 2; time++) {
    const [left, beside] = await Promise.allSettled([leave(), read()])
    expect([left?.status, beside?.status]).toEqual(['rejected', 'rejected'])
    expect(await read()).toEqual([])
  }
  expect(faults).toHaveLength(4)
  await reader.close()
})

test('tenants take turns at reads: many of one tenant delay another by two at most', async () => {
  using folder = tempFolder()
  const file = { path: folder.file('test.db'), extensions: [] }
  migrate(file, [{ name: '0001', sql: 'CREATE TABLE item (x TEXT)' }], 'stamp')
  const reader = createReadThread(file, READER)
  const order: string[] = []
  const read = async (tenant: string) => {
    await reader.all(tenant, sql`SELECT x FROM item`)
    order.push(tenant)
  }
  await Promise.all([...Array.from({ length: 100 }, () => read('greedy')), read('modest')])
  expect(order.indexOf('modest')).toBeLessThanOrEqual(3)
  await reader.close()
})

test('a read that was aborted while it waited is not made', async () => {
  using folder = tempFolder()
  const file = { path: folder.file('test.db'), extensions: [] }
  migrate(file, [{ name: '0001', sql: 'CREATE TABLE item (x TEXT)' }], 'stamp')
  const reader = createReadThread(file, READER)
  const leaving = new AbortController()
  const statement = sql`SELECT x FROM item`
  const first = [1, 2].map(() => reader.all('tenant', statement))
  const left = reader.all('tenant', sql`SELECT y FROM nothing`, leaving.signal)
  leaving.abort(new Error('left'))
  await expect(left).rejects.toThrow('left')
  expect(await Promise.all(first)).toEqual([[], []])
  await reader.close()
})
