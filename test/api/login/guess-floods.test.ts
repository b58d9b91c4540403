import { expect, test } from 'bun:test'
import { DAY_MS, MINUTE_MS } from '../../../src/core/clock.ts'
import type { AppError } from '../../../src/core/errors.ts'
import { createEmailLogin, createLoginCodes } from '../../../src/features/login/email.ts'
import { createRateLimiter } from '../../../src/http/request-limits.ts'
import type { createJobs } from '../../../src/jobs/runner.ts'
import { createLocalState } from '../../../src/storage/local-state.ts'
import { fakeClock } from '../../support/clock.ts'

const free = { reserve: async () => {}, giveBack: async () => {} }

test('an address at its limits stays there after 101,000 other names were tried', async () => {
  const clock = fakeClock()
  const state = createLocalState(clock)
  const jobs = { run: () => {} } as unknown as ReturnType<typeof createJobs>
  const login = createEmailLogin({
    clock,
    codes: createLoginCodes({ openCodes: state.openCodes, key: new Uint8Array(32) }),
    signup: { isAllowed: async () => true, admit: async () => null },
    delivery: { state: () => 'ok', medium: () => 'mail', deliver: async () => {} },
    jobs,
    codeLimiter: createRateLimiter(state.openWindows('login code', 10 * MINUTE_MS)),
    guessLimiter: createRateLimiter(state.openWindows('login guess', DAY_MS)),
  })
  const start = () => login.start('victim@example.com').catch(({ code }: AppError) => code)
  const guess = async (email: string) => {
    const wrong = login.verify(email, 'wrong', free)
    return wrong.catch(({ code }: AppError) => code)
  }
  const invented = (n: number) => `invented-${n}@example.com`

  for (let codes = 0; codes < 5; codes++) {
    expect(await start()).toEqual({ sent: true })
    for (let guesses = 0; guesses < 5; guesses++) await guess('victim@example.com')
  }
  expect(await start()).toBe('rate_limited_email')
  for (let n = 0; n < 101_000; n++) await guess(invented(n))
  for (let n = 0; n < 101_000; n++) {
    await login.start(invented(n))
    await guess(invented(n))
  }
  expect(await start()).toBe('rate_limited_email')

  clock.advance(10 * MINUTE_MS)
  for (let codes = 0; codes < 5; codes++) {
    await start()
    for (let guesses = 0; guesses < 5; guesses++) await guess('victim@example.com')
  }
  clock.advance(10 * MINUTE_MS)
  expect(await start()).toBe('rate_limited_guesses')
  expect(await guess('victim@example.com')).toBe('rate_limited_guesses')
}, 60_000)
