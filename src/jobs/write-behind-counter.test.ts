import { expect, test } from 'bun:test'
import { systemClock } from '../core/clock.ts'
import { createLogger } from '../core/log.ts'
import { type Count, createTally } from './write-behind-counter.ts'

const clock = systemClock()
const log = createLogger({ level: 'error', json: true, now: () => new Date(0), write() {} })

function tally(write: (counts: readonly Count<string>[]) => Promise<void>) {
  return createTally<string>({ clock, log, name: 'test', nameOf: (item) => item, write })
}

test('what is counted often is written once, with its sum', async () => {
  const written: Count<string>[][] = []
  const counts = tally(async (sums) => void written.push([...sums]))
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

test('counts that were refused are written with the next ones', async () => {
  const written: Count<string>[][] = []
  let refusing = true
  const counts = tally(async (sums) => {
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
