import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type AddressInfo, createServer } from 'node:net'
import { type Call, caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { type FakeClock, fakeClock } from '../support/clock.ts'
import { codesFor, signIn } from '../support/login.ts'
import { startMailServer } from '../support/mail-server.ts'
import { settingsBy } from '../support/system.ts'

let mail: Awaited<ReturnType<typeof startMailServer>>
let app: TestApp
let operator: Call
let clock: FakeClock
beforeAll(async () => {
  mail = await startMailServer({ nobody: 'nobody@example.com' })
  clock = fakeClock()
  app = await startApp({ clock })
  operator = caller(`${app.url}/console`, (await app.operator('boss@example.com')).headers)
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await mail.stop()
})

const put = (body: object, query = '') => operator('PUT', `/system${query}`, body)
const start = (email: string, at = app) =>
  fetch(`${at.url}/auth/email/start`, { method: 'POST', body: JSON.stringify({ email }) })
const methods = async (at = app) => (await fetch(`${at.url}/auth/methods`)).json()
const codes = (email: string, at = app) => codesFor(email, at.printed.text()).length
const clear = () => put({ MB_SMTP_URL: null, MB_MAIL_FROM: null, MB_SIGNUP: null })

test('mail is saved once somebody has said who may sign up', async () => {
  for (const query of ['', '?untested=1']) {
    const open = await put({ MB_SMTP_URL: mail.url }, query)
    expect([open.status, open.headers.get('x-error-code')]).toEqual([400, 'signup_choice'])
  }
  expect(await methods()).toMatchObject({ mail: 'terminal' })
  const incoming = mail.next()
  expect((await put({ MB_SMTP_URL: mail.url, MB_SIGNUP: 'open' })).status).toBe(200)
  expect((await incoming).to).toEqual(['boss@example.com'])
  expect(await methods()).toMatchObject({ mail: 'ok' })
  // Other settings, and the same ones again, need no test; taking mail away neither.
  const before = mail.mails.length
  expect((await put({ MB_LLM_MODEL: 'm', MB_SMTP_URL: mail.url })).status).toBe(200)
  expect((await put({ MB_SMTP_URL: null, MB_SIGNUP: null })).status).toBe(200)
  expect(mail.mails).toHaveLength(before)
})

test('a mail server that takes no test mail changes nothing, whatever its fault', async () => {
  const closed = await startMailServer()
  await closed.stop()
  const login = await startMailServer({ password: 'right' })
  const rejecting = await startMailServer()
  const strict = await startMailServer({ denied: 'box@example.com' })
  rejecting.state.refuses = true
  const secured = await startMailServer({ secure: true })
  const silent = createServer(() => {})
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as AddressInfo
  const faults = [
    [closed.url, 'connection_failed'],
    [login.url.replace('//', '//user:wrong@'), 'refuses_login'],
    [`smtp://127.0.0.1:${port}`, 'timeout'],
    // Its certificate is nobody's.
    [secured.url, 'tls'],
    [strict.url, 'refuses_sender'],
    [rejecting.url, 'refuses_mail'],
  ] as const
  await put({ MB_LLM_MODEL: null })
  const before = await settingsBy(operator)
  const others = { MB_SIGNUP: 'closed', MB_MAIL_FROM: 'box@example.com' }
  const tries = faults.map(([url]) => put({ MB_SMTP_URL: url, ...others }))
  // Others do not wait for a server that is silent.
  expect((await put({ MB_LLM_MODEL: 'meanwhile' })).status).toBe(200)
  expect((await put({ MB_LLM_MODEL: null })).status).toBe(200)
  const answers = await Promise.all(tries)
  for (const [index, [, word]] of faults.entries()) {
    const answer = answers[index]
    expect([answer?.status, answer?.headers.get('x-error-code')]).toEqual([400, 'mail_failed'])
    expect(answer?.text).toEndWith(`(${word})`)
    expect(answer?.text).not.toContain('wrong')
  }
  expect(await settingsBy(operator)).toEqual(before)
  expect(await methods()).toMatchObject({ mail: 'terminal' })
  silent.close()
  await Promise.all([login, rejecting, strict, secured].map((one) => one.stop()))
}, 60_000)

test('who skips the test stands in the audit by that name', async () => {
  const settings = { MB_SMTP_URL: 'smtp://127.0.0.1:1', MB_SIGNUP: 'closed' }
  expect((await put(settings, '?untested=1')).status).toBe(200)
  type Page = { entries: { action: string; target: string }[] }
  const [line] = (await operator<Page>('GET', '/audit')).json().entries
  expect(line).toMatchObject({
    action: 'system.update',
    target: 'MB_SIGNUP, MB_SMTP_URL, untested',
  })
  await clear()
})

test('while mail fails, codes of operators alone stand on the terminal, too', async () => {
  await app.key('ada@example.com')
  await put({ MB_SMTP_URL: mail.url, MB_SIGNUP: 'open' })
  await start('boss@example.com')
  await app.jobs.idle()
  expect(codes('boss@example.com')).toBe(0)

  mail.state.refuses = true
  expect(await (await start('ada@example.com')).text()).toBe('{"sent":true}')
  await app.jobs.idle()
  expect(await methods()).toMatchObject({ mail: 'failing', email_delivery: 'mail' })
  expect(codes('ada@example.com')).toBe(0)
  expect(await (await start('boss@example.com')).text()).toBe('{"sent":true}')
  await app.jobs.idle()
  expect(codes('boss@example.com')).toBe(1)

  clock.advance(10 * 60_000 + 1)
  expect(await methods()).toMatchObject({ mail: 'ok' })
  await start('boss@example.com')
  await app.jobs.idle()
  expect(codes('boss@example.com')).toBe(2)
  mail.state.refuses = false
  await start('ada@example.com')
  await app.jobs.idle()
  expect(await methods()).toMatchObject({ mail: 'ok' })

  // One who ran the server once is none any more.
  mail.state.refuses = true
  await signInAs('second@example.com')
  await app.db.run({
    sql: 'UPDATE "user" SET operator = 1, signed_in_at = ? WHERE email = ?',
    args: ['2026-01-01T00:00:00.000Z', 'second@example.com'],
  })
  await app.db.run({
    sql: 'UPDATE "user" SET disabled = 1 WHERE email = ?',
    args: ['second@example.com'],
  })
  await start('second@example.com')
  await app.jobs.idle()
  expect(codes('second@example.com')).toBe(0)
  mail.state.refuses = false
  await clear()
})

const signInAs = (email: string) => app.person(email)

test('an address that nobody has does not make mail look broken', async () => {
  await put({ MB_SMTP_URL: mail.url, MB_SIGNUP: 'open' })
  expect(await (await start('nobody@example.com')).text()).toBe('{"sent":true}')
  await app.jobs.idle()
  expect(app.log()).toContain('"login mail not sent"')
  expect(await methods()).toMatchObject({ mail: 'ok' })
  await clear()
})

test('as long as a box has no operator, a code that could not be mailed is printed', async () => {
  const env = { MB_SMTP_URL: 'smtp://127.0.0.1:1', MB_SIGNUP: 'open' }
  await using box = await startApp({ env })
  await start('first@example.com', box)
  await box.jobs.idle()
  expect(codes('first@example.com', box)).toBe(1)
  expect(await methods(box)).toMatchObject({ mail: 'failing' })
  await signIn(box, 'first@example.com')
  await start('next@example.com', box)
  await box.jobs.idle()
  expect(codes('next@example.com', box)).toBe(0)
})

test('the status page tells that anybody may sign up', async () => {
  const signup = async (env: Record<string, string>) => {
    await using box = await startApp({ env })
    const report = await fetch(`${box.url}/status?format=json`)
    const { checks } = (await report.json()) as { checks: { name: string; class: string }[] }
    return checks.find(({ name }) => name === 'signup')?.class
  }
  expect(await signup({ MB_SIGNUP: 'open' })).toBe('open')
  expect(await signup({ MB_SIGNUP: 'closed' })).toBeUndefined()
  expect(await signup({ MB_SIGNUP: 'open', MB_SIGNIN: 'passkey' })).toBeUndefined()
})
