import { expect, test } from 'bun:test'
import { fakeClock } from '../../test/support/clock.ts'
import { RATE_WINDOWS_MAX } from '../core/limits/machine.ts'
import { createRateLimiter } from './rate-limit.ts'

test('a rate limiter remembers a bounded number of subjects, the latest ones', () => {
  const limiter = createRateLimiter(fakeClock())
  limiter.count('first')
  for (let n = 1; n < RATE_WINDOWS_MAX; n++) limiter.count(`subject ${n}`)
  expect(() => limiter.check('first', 1)).toThrow()
  limiter.count('one more')
  expect(() => limiter.check('first', 1)).not.toThrow()
  expect(() => limiter.check('subject 2', 1)).toThrow()
  expect(() => limiter.check('one more', 1)).toThrow()
})
