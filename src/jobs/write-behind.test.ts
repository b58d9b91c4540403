import { expect, test } from 'bun:test'
import { systemClock } from '../core/clock.ts'
import { createLogger } from '../core/log.ts'
import { createWriteBehindQueue, createWriteBehindSums } from './write-behind.ts'

const clock = systemClock()
const log = createLogger({ level: 'error', json: true, now: () => new Date(0), write() {} })

interface Count {
  readonly item: string
  count: number
}
const one = (item: string): Count => ({ item, count: 1 })

const counter = (write: (counts: readonly Count[]) => Promise<void>) =>
  createWriteBehindSums<Count>({
    clock,
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
  expect(written).toEqual([[{ item: 'a', count: 2 }]])
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
  const written: number[] = []
  let isFirst = true
  const queue = createWriteBehindQueue<number>({
    clock,
    log,
    name: 'test',
    async write(rows) {
      if (isFirst) await hanging.promise
      isFirst = false
      written.push(...rows)
    },
  })
  queue.add(0)
  const flushing = queue.flush()
  await Promise.resolve()
  for (let row = 1; row <= 100_000; row++) queue.add(row)
  hanging.resolve()
  await flushing
  await queue.flush()
  expect(written.length).toBeLessThanOrEqual(22_001)
  expect([written[0], written.at(-1)]).toEqual([0, 100_000])
})
