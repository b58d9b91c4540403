import { expect, test } from 'bun:test'
import { fakeClock } from '../../test/support/clock.ts'
import { DAY_MS, MINUTE_MS } from '../core/clock.ts'
import { createLogger } from '../core/log.ts'
import { createPrune } from './prune.ts'

/** A prune of two kinds by age and one that is unused; `ran` has the kinds since the last look. */
function pruning() {
  const clock = fakeClock()
  const lines: string[] = []
  const now = () => new Date(0)
  const log = createLogger({ level: 'info', json: true, now, write: (line) => lines.push(line) })
  const done: string[] = []
  let failing = ''
  const remove = (kind: string) => async () => {
    if (kind === failing) throw new Error('the disk is full')
    done.push(kind)
  }
  const byAge = { runs: remove('runs'), files: remove('files') }
  const prune = createPrune({ clock, log, byAge, unused: { pictures: remove('pictures') } })
  return {
    clock,
    fail: (kind: string) => {
      failing = kind
    },
    async ran() {
      await prune()
      return done.splice(0)
    },
    logged: () => lines.splice(0).map((line) => JSON.parse(line)),
  }
}

test('nothing is deleted by its age until the clock has run evenly for half an hour', async () => {
  const { clock, ran } = pruning()
  clock.advance(29 * MINUTE_MS)
  expect(await ran()).toEqual(['pictures'])
  clock.advance(MINUTE_MS)
  expect(await ran()).toEqual(['pictures', 'runs', 'files'])
  for (const jump of [DAY_MS, -DAY_MS]) {
    clock.set(jump)
    expect(await ran()).toEqual(['pictures'])
    clock.advance(29 * MINUTE_MS)
    expect(await ran()).toEqual(['pictures'])
    clock.advance(MINUTE_MS)
    expect(await ran()).toEqual(['pictures', 'runs', 'files'])
  }
})

test('records that fail to be deleted are logged by name, and the others are deleted', async () => {
  const { clock, fail, ran, logged } = pruning()
  clock.advance(30 * MINUTE_MS)
  const kinds = ['pictures', 'runs', 'files']
  for (const kind of kinds) {
    fail(kind)
    expect(await ran()).toEqual(kinds.filter((other) => other !== kind))
    const line = { event: 'prune failed', records: kind, message: 'the disk is full' }
    expect(logged()).toMatchObject([line])
  }
  fail('')
  expect(await ran()).toEqual(kinds)
  expect(logged()).toEqual([])
})
