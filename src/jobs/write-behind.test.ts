import { expect, test } from 'bun:test'
import { systemClock } from '../core/clock.ts'
import { createLogger } from '../core/log.ts'
import { type Count, createWriteBehindCounter } from './write-behind.ts'

const clock = systemClock()
const log = createLogger({ level: 'error', json: true, now: () => new Date(0), write() {} })

function counter(write: (counts: readonly Count<string>[]) => Promise<void>) {
  return createWriteBehindCounter<string>({
    clock,
    log,
    name: 'test',
    keyOf: (item) => item,
    write,
  })
}

test('items that are counted often are written once, with their sum', async () => {
  const written: Count<string>[][] = []
  const counts = counter(async (sums) => void written.push([...sums]))
  for (const item of ['a', 'b', 'a', 'a']) counts.add(item)
  await counts.flush()
  await counts.flush()
  expect(written).toEqual([
    [
      { item: 'a', count: 3 },
      { item: 'b', count: 1 },
    ],
  ])
})

test('counts that the database refused are written with the next ones', async () => {
  const written: Count<string>[][] = []
  let refusing = true
  const counts = counter(async (sums) => {
    if (refusing) throw new Error('disk full')
    written.push([...sums])
  })
  counts.add('a')
  await counts.flush()
  refusing = false
  counts.add('a')
  await counts.close()
  expect(written).toEqual([[{ item: 'a', count: 2 }]])
})
