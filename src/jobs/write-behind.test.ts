import { expect, test } from 'bun:test'
import { handClock } from '../../test/support/clock.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import { DatabaseAway, DiskFault } from '../core/errors.ts'
import { createLogger } from '../core/log.ts'
import { createWriteBehindQueue, createWriteBehindSums } from './write-behind.ts'

const clock = systemClock()
const log = createLogger({ level: 'error', json: true, now: () => new Date(0), write() {} })

interface Count {
  readonly item: string
  count: number
}
const one = (item: string): Count => ({ item, count: 1 })

const counter = (
  write: (counts: readonly Count[]) => Promise<void>,
  time: Pick<Clock, 'after'> = clock,
) =>
  createWriteBehindSums<Count>({
    clock: time,
    log,
    name: 'test',
    keyOf: ({ item }) => item,
    addTo(sum, { count }) {
      sum.count += count
    },
    write,
  })

test('items that come often are written once, with their sum', async () => {
  const written: Count[][] = []
  const counts = counter(async (sums) => void written.push([...sums]))
  for (const item of ['a', 'b', 'a', 'a']) counts.add(one(item))
  await counts.flush()
  await counts.flush()
  expect(written).toEqual([
    [
      { item: 'a', count: 3 },
      { item: 'b', count: 1 },
    ],
  ])
})

test('sums that the database refused are written with the next ones', async () => {
  const written: Count[][] = []
  let refusing = true
  const counts = counter(async (sums) => {
    if (refusing) throw new Error('disk full')
    written.push([...sums])
  })
  counts.add(one('a'))
  await counts.flush()
  refusing = false
  counts.add(one('a'))
  await counts.close()
  expect(written).toEqual([[{ item: 'a', count: 1 }], [{ item: 'a', count: 1 }]])
})

test('a refused row is tried twice and dropped alone; the others keep their order', async () => {
  const written: string[] = []
  let tries = 0
  const rows = createWriteBehindQueue<string>({
    clock,
    log,
    name: 'test',
    async write(batch) {
      if (batch.includes('bad')) {
        tries += 1
        throw new Error('out of range')
      }
      written.push(...batch)
    },
  })
  for (const row of ['a', 'b', 'bad', 'c', 'd', 'e']) rows.add(row)
  await rows.flush()
  expect(written).toEqual([])
  await rows.close()
  expect(written).toEqual(['a', 'b', 'c', 'd', 'e'])
  // Twice whole, then as three, two and one.
  expect(tries).toBe(4)
})

test('rows wait for a database that is away, the oldest beyond 20,000 are dropped', async () => {
  const written: number[] = []
  let away = true
  const rows = createWriteBehindQueue<number>({
    clock,
    log,
    name: 'test',
    async write(batch) {
      if (away) throw new DatabaseAway('lost', 'connection lost')
      written.push(...batch)
    },
  })
  rows.add(0)
  await rows.flush()
  for (let n = 1; n < 30_000; n++) rows.add(n)
  for (let times = 0; times < 3; times++) await rows.flush()
  away = false
  await rows.flush()
  // The batch that was tried is kept, because it may have been stored.
  expect([written[0], written.length, written.at(-1)]).toEqual([0, 20_001, 29_999])
})

test('what could not be written is tried again after a second without another item', async () => {
  const { clock: time, pass } = handClock()
  const written: Count[] = []
  let away = true
  const counts = counter(async (sums) => {
    if (away) throw new DiskFault('disk_full', 'SQLITE_FULL', 'full')
    written.push(...sums)
  }, time)
  counts.add(one('a'))
  await counts.flush()
  away = false
  pass(1_000)
  await counts.betweenWrites(async () => {})
  expect(written).toEqual([{ item: 'a', count: 1 }])
})

test('between writes, every item is either stored or waits', async () => {
  let stored = 0
  const counts = counter(async (sums) => {
    await Promise.resolve()
    for (const { count } of sums) stored += count
  })
  const seen: number[] = []
  for (let round = 0; round < 3; round++) {
    counts.add(one('a'))
    void counts.flush()
    counts.add(one('b'))
    void counts.betweenWrites(async (waiting) => {
      const left = [...waiting].reduce((sum, { count }) => sum + count, 0)
      seen.push(stored + left)
    })
  }
  await counts.flush()
  expect(seen).toEqual([6, 6, 6])
})

test('rows that come while others are written gather for a write of their own', async () => {
  const written: string[][] = []
  const rows = createWriteBehindQueue<string>({
    clock,
    log,
    name: 'test',
    async write(batch) {
      written.push([...batch])
      if (batch.includes('a')) rows.add('b')
    },
  })
  rows.add('a')
  await rows.flush()
  expect(written).toEqual([['a']])
  await rows.close()
  expect(written).toEqual([['a'], ['b']])
})

test('of the rows that come while a write hangs the newest 20,000 are kept', async () => {
  const hanging = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const written: number[] = []
  let isFirst = true
  const queue = createWriteBehindQueue<number>({
    clock,
    log,
    name: 'test',
    async write(rows) {
      begun.resolve()
      if (isFirst) await hanging.promise
      isFirst = false
      written.push(...rows)
    },
  })
  queue.add(0)
  const flushing = queue.flush()
  await begun.promise
  for (let row = 1; row <= 100_000; row++) queue.add(row)
  hanging.resolve()
  await flushing
  await queue.flush()
  expect(written.length).toBeLessThanOrEqual(22_001)
  expect([written[0], written.at(-1)]).toEqual([0, 100_000])
})
