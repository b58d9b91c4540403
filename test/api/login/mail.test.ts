import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type AddressInfo, createServer } from 'node:net'
import { startApp, type TestApp } from '../../support/app.ts'
import { codesFor } from '../../support/login.ts'
import { startMailServer } from '../../support/mail-server.ts'

let mail: Awaited<ReturnType<typeof startMailServer>>
let app: TestApp
beforeAll(async () => {
  mail = await startMailServer()
  app = await startApp({ env: { MB_SMTP_URL: mail.url } })
  // Without an operator a code that cannot be mailed is printed.
  await app.operator()
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await mail.stop()
})

const start = (server: TestApp, email: string, headers: Record<string, string> = {}) =>
  fetch(`${server.url}/auth/email/start`, {
    method: 'POST',
    body: JSON.stringify({ email }),
    headers,
  })

test('a login code is mailed to the one address, in both languages', async () => {
  const incoming = mail.next()
  await start(app, 'ada@example.com')
  const { to, raw } = await incoming
  expect(to).toEqual(['ada@example.com'])
  expect(raw).toContain('Auto-Submitted: auto-generated')
  expect(raw).toMatch(/sign-in code: \d{6}\r\n/)
  expect(raw).toContain('=E7=99=BB=E5=BD=95')
  expect(codesFor('ada@example.com', app.printed.text())).toEqual([])
})

test('the Host header of a request does not get into the mail', async () => {
  const incoming = mail.next()
  await start(app, 'host@example.com', { host: 'evil.example', 'x-forwarded-host': 'evil.example' })
  expect((await incoming).raw).not.toContain('evil')
})

test('the code of an address at localhost is printed, not mailed', async () => {
  const before = mail.mails.length
  await start(app, 'owner@localhost')
  await app.jobs.idle()
  expect(codesFor('owner@localhost', app.printed.text())).toHaveLength(1)
  expect(mail.mails).toHaveLength(before)
})

test('no mail goes to new people when sign-up is closed', async () => {
  await using closed = await startApp({ env: { MB_SMTP_URL: mail.url, MB_SIGNUP: 'closed' } })
  const before = mail.mails.length
  expect(await (await start(closed, 'fresh@example.com')).text()).toBe('{"sent":true}')
  await closed.jobs.idle()
  expect(mail.mails).toHaveLength(before)
})

test('a refused mail changes no answer, and the log holds nothing of its text', async () => {
  mail.state.refuses = true
  const response = await start(app, 'nobody@example.com')
  await app.jobs.idle()
  mail.state.refuses = false
  expect([response.status, await response.text()]).toEqual([200, '{"sent":true}'])
  const line = app
    .log()
    .split('\n')
    .find((one) => one.includes('"login mail not sent"'))
  expect(JSON.parse(line ?? '{}')).toEqual({
    time: expect.any(String),
    level: 'warn',
    event: 'login mail not sent',
    domain: '@example.com',
    code: 'EENVELOPE',
    reply: 550,
  })
  expect(app.log()).not.toContain('nobody@example.com')
})

test('an unreachable mail server changes no answer', async () => {
  const gone = await startMailServer()
  await gone.stop()
  await using lonely = await startApp({ env: { MB_SMTP_URL: gone.url } })
  expect((await start(lonely, 'ada@example.com')).status).toBe(200)
  await lonely.jobs.idle()
  expect(lonely.log()).toContain('login mail not sent')
})

test('a silent mail server delays neither the answer nor the shutdown', async () => {
  const called = Promise.withResolvers<void>()
  const silent = createServer(() => called.resolve())
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as AddressInfo
  {
    await using patient = await startApp({ env: { MB_SMTP_URL: `smtp://127.0.0.1:${port}` } })
    expect((await start(patient, 'ada@example.com')).status).toBe(200)
    await called.promise
  }
  silent.close()
})
