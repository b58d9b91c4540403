import { expect, test } from 'bun:test'
import { fakeClock } from '../../../test/support/clock.ts'
import { DAY_MS, MINUTE_MS, systemClock } from '../../core/clock.ts'
import type { AppError } from '../../core/errors.ts'
import { createLogger } from '../../core/log.ts'
import { createRateLimiter } from '../../http/request-limits.ts'
import { createJobs } from '../../jobs/runner.ts'
import { createOwnState } from '../../storage/own-state.ts'
import { createEmailLogin, createLoginCodes } from './email.ts'

const free = { reserve: async () => {}, giveBack: async () => {} }

function loginFor(isAllowed: (email: string) => Promise<boolean>) {
  const clock = systemClock()
  const log = createLogger({
    level: 'error',
    json: true,
    now: () => new Date(0),
    write: (line) => {
      throw new Error(line)
    },
  })
  const jobs = createJobs({ clock, log })
  const sent: string[] = []
  const codes = createLoginCodes({
    openCodes: createOwnState(clock).openCodes,
    key: new Uint8Array(32),
  })
  const login = createEmailLogin({
    clock,
    codes,
    signup: { isAllowed, admit: async () => null },
    delivery: {
      medium: () => 'mail',
      deliver: async (email) => {
        sent.push(email)
      },
    },
    jobs,
    codeLimiter: { take: async () => ({}) },
    guessLimiter: { check: async () => {}, ...free },
  })
  return { login, codes, jobs, sent }
}

test('an address is looked up only after the login answer is sent', async () => {
  const asked: string[] = []
  const { login, jobs, sent } = loginFor(async (email) => {
    asked.push(email)
    return email === 'known@example.com'
  })
  expect(await login.start('known@example.com')).toEqual({ sent: true })
  expect(await login.start('refused@example.com')).toEqual({ sent: true })
  // What handlers and the framework still do with promises before the answer is written.
  for (let step = 0; step < 100; step++) await Promise.resolve()
  expect(asked).toEqual([])
  await jobs.idle()
  expect(asked).toEqual(['known@example.com', 'refused@example.com'])
  expect(sent).toEqual(['known@example.com'])
})

test('a right code of an address that may not sign up is refused like a wrong one', async () => {
  const { login, codes } = loginFor(async () => false)
  const code = await codes.issue('refused@example.com')
  await expect(login.verify('refused@example.com', code, free)).rejects.toThrow(
    '验证码错误或已过期',
  )
})

test('an address at its limits stays there after 101,000 other names were tried', async () => {
  const clock = fakeClock()
  const state = createOwnState(clock)
  const jobs = { run: () => {} } as unknown as ReturnType<typeof createJobs>
  const login = createEmailLogin({
    clock,
    codes: createLoginCodes({ openCodes: state.openCodes, key: new Uint8Array(32) }),
    signup: { isAllowed: async () => true, admit: async () => null },
    delivery: { medium: () => 'mail', deliver: async () => {} },
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
