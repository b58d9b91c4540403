import { expect, test } from 'bun:test'
import { fakeClock } from '../../test/support/clock.ts'
import { createProgress } from './progress.ts'

function started(rows: number) {
  const clock = fakeClock()
  const lines: string[] = []
  const steps = [
    { name: 'turn', rows, weight: 1 },
    { name: 'kb_vector', rows: rows / 2, weight: 2 },
  ]
  const progress = createProgress({ clock, write: (line) => lines.push(line), steps })
  return { clock, lines, progress }
}

test('a copy tells its part done by weight and the time left at the pace so far', () => {
  const { clock, lines, progress } = started(1_000)
  clock.advance(10_000)
  progress.add('turn', 500)
  clock.advance(10_000)
  progress.add('turn', 500)
  clock.advance(10_000)
  progress.add('kb_vector', 250)
  expect(lines).toEqual([
    '  25 %  500 of 1500 rows, turn; about 30 s left\n',
    '  50 %  1000 of 1500 rows, turn; about 20 s left\n',
    '  75 %  1250 of 1500 rows, kb_vector; about 10 s left\n',
  ])
})

test('a copy tells nothing when it is short, and one line for many portions', () => {
  const { clock, lines, progress } = started(1_000)
  for (let i = 0; i < 49; i++) {
    clock.advance(100)
    progress.add('turn', 10)
  }
  expect(lines).toEqual([])
  for (let i = 0; i < 50; i++) {
    clock.advance(100)
    progress.add('turn', 10)
  }
  expect(lines).toHaveLength(1)
})

test.each([
  [999, 5_000, 'about 1 s left'],
  [100, 60_000, 'about 9 min left'],
  [10, 48_000, 'about 80 min left'],
  [10, 96_000, 'about 2 h 39 min left'],
])('%d of 1000 rows after %d ms: %s', (done, ms, words) => {
  const clock = fakeClock()
  const lines: string[] = []
  const steps = [{ name: 'turn', rows: 1_000, weight: 1 }]
  const progress = createProgress({ clock, write: (line) => lines.push(line), steps })
  clock.advance(ms)
  progress.add('turn', done)
  expect(lines).toEqual([expect.stringContaining(words)])
})
