import { expect, test } from 'bun:test'
import { fakeClock } from '../../test/support/clock.ts'
import { RATE_WINDOWS_MAX } from '../core/limits/machine.ts'
import { createLocalState } from './local-state.ts'

test('rate windows in memory are those of a bounded number of subjects, the latest ones', () => {
  const windows = createLocalState(fakeClock()).openWindows('test', 60_000)
  const isSpent = (subject: string) => windows.look(subject, 1)
  windows.count('first', Infinity)
  for (let n = 1; n < RATE_WINDOWS_MAX; n++) windows.count(`subject ${n}`, Infinity)
  expect(isSpent('first')).toMatchObject({ counted: false })
  windows.count('one more', Infinity)
  expect(isSpent('first')).toMatchObject({ counted: true })
  expect(isSpent('subject 2')).toMatchObject({ counted: false })
  expect(isSpent('one more')).toMatchObject({ counted: false })
})

test('rate windows near their limit outlive any number of others, and stay bounded', () => {
  const clock = fakeClock()
  const windows = createLocalState(clock).openWindows('test', 60_000)
  for (let times = 0; times < 3; times++) windows.count('half', 5)
  for (let n = 0; n < 2 * RATE_WINDOWS_MAX; n++) windows.count(`once ${n}`, 5)
  expect(windows.look('half', 5)).toMatchObject({ used: 3 })
  expect(windows.look('once 0', 5)).toMatchObject({ used: 0 })
  // Only others that are as near to their limit push it out.
  for (let n = 0; n < RATE_WINDOWS_MAX; n++) {
    for (let times = 0; times < 3; times++) windows.count(`thrice ${n}`, 5)
  }
  expect(windows.look('half', 5)).toMatchObject({ used: 0 })
  expect(windows.look('thrice 0', 5)).toMatchObject({ used: 3 })
  clock.advance(60_000)
  expect(windows.look('thrice 0', 5)).toMatchObject({ used: 0 })
})

test('a count that is given back leaves no window, and takes no place of another', () => {
  const windows = createLocalState(fakeClock()).openWindows('test', 60_000)
  windows.count('first', 50)
  for (let n = 0; n < 2 * RATE_WINDOWS_MAX; n++) {
    windows.count(`subject ${n}`, 50)
    windows.giveBack(`subject ${n}`)
  }
  expect(windows.look('first', 50)).toMatchObject({ used: 1 })
})
