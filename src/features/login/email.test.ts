import { expect, test } from 'bun:test'
import { systemClock } from '../../core/clock.ts'
import { createLogger } from '../../core/log.ts'
import { createJobs } from '../../jobs/runner.ts'
import { createLocalState } from '../../storage/local-state.ts'
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
    openCodes: createLocalState(clock).openCodes,
    key: new Uint8Array(32),
  })
  const login = createEmailLogin({
    clock,
    codes,
    signup: { isAllowed, admit: async () => null },
    delivery: {
      state: () => 'ok',
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
