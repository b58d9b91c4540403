import { expect, test } from 'bun:test'
import { fakeClock } from '../../test/support/clock.ts'
import { RATE_WINDOWS_MAX } from '../core/limits/machine.ts'
import { createOwnState } from './own-state.ts'

test('rate windows in memory are those of a bounded number of subjects, the latest ones', () => {
  const windows = createOwnState(fakeClock()).openWindows('test', 60_000)
  const isSpent = (subject: string) => windows.look(subject, 1)
  windows.count('first', Infinity)
  for (let n = 1; n < RATE_WINDOWS_MAX; n++) windows.count(`subject ${n}`, Infinity)
  expect(isSpent('first')).toMatchObject({ counted: false })
  windows.count('one more', Infinity)
  expect(isSpent('first')).toMatchObject({ counted: true })
  expect(isSpent('subject 2')).toMatchObject({ counted: false })
  expect(isSpent('one more')).toMatchObject({ counted: false })
})
