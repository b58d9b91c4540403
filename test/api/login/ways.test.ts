import { expect, test } from 'bun:test'
import { loadConfig } from '../../../src/config.ts'
import { caller } from '../../support/api.ts'
import { ON_POSTGRES, startApp, type TestApp } from '../../support/app.ts'
import { fakeClock } from '../../support/clock.ts'
import { signIn } from '../../support/login.ts'
import { run } from '../../support/run.ts'
import { storedIn } from '../../support/stored.ts'

const ORIGIN = 'https://moon.example'

test('an address is no name for passkeys, and localhost is one', async () => {
  await using local = await startApp()
  const port = new URL(local.url).port
  const at = async (host: string) =>
    (await fetch(`${local.url}/auth/methods`, { headers: { host } })).json()
  expect(await at(`127.0.0.1:${port}`)).toMatchObject({ passkey: false })
  expect(await at(`localhost:${port}`)).toMatchObject({ passkey: true })
  expect(await at('evil.example')).toMatchObject({ passkey: false })
  const call = caller(local.url, (await local.person('ada@example.com')).headers)
  expect((await call('POST', '/auth/passkeys/options')).status).toBe(404)
  const here = await call('POST', '/auth/passkeys/options', undefined, {
    host: `localhost:${port}`,
  })
  expect(here.json()).toMatchObject({ rp: { id: 'localhost' } })
  await using numbered = await startApp({ env: { MB_PUBLIC_URL: 'http://192.168.1.7:3900' } })
  const methods = await fetch(`${numbered.url}/auth/methods`)
  expect(await methods.json()).toMatchObject({ passkey: false })
})

test('only the ways that MB_SIGNIN names are open', async () => {
  await using box = await startApp({ env: { MB_SIGNIN: 'passkey', MB_PUBLIC_URL: ORIGIN } })
  const methods = await fetch(`${box.url}/auth/methods`)
  expect(await methods.json()).toMatchObject({ email: false, oauth: [], passkey: true })
  const call = caller(box.url, {})
  for (const [method, path, body] of [
    ['POST', '/auth/email/start', { email: 'a@example.com' }],
    ['POST', '/auth/email/verify', { email: 'a@example.com', code: '123456' }],
    ['GET', '/auth/oauth/github', undefined],
    ['GET', '/auth/oauth/github/callback?state=x', undefined],
  ] as const) {
    expect([path, (await call(method, path, body)).status]).toEqual([path, 404])
  }
  await using mail = await startApp({ env: { MB_PUBLIC_URL: ORIGIN } })
  const operator = caller(mail.url, (await mail.operator()).headers)
  const put = (value: unknown) => operator('PUT', '/console/system', { MB_SIGNIN: value })
  for (const wrong of ['', ' ', ',', 'email,', 'magic', 'email,magic']) {
    expect([wrong, (await put(wrong)).status]).toEqual([wrong, 400])
  }
  expect((await put('email,oauth')).status).toBe(200)
  const now = await fetch(`${mail.url}/auth/methods`)
  expect(await now.json()).toMatchObject({ email: true, passkey: false })
  const person = await mail.person('ada@example.com')
  const ada = caller(mail.url, person.headers)
  expect((await ada('POST', '/auth/passkeys/options')).status).toBe(404)
  expect((await ada('POST', '/auth/passkey/options')).status).toBe(404)
  expect((await put(null)).status).toBe(200)
  await signIn(mail, 'ada@example.com')
})

test('a wrong list of ways stops the start', () => {
  for (const value of [',', 'email,', 'magic']) {
    expect(() => loadConfig({ MB_SIGNIN: value })).toThrow('MB_SIGNIN')
  }
})

/** Runs `moonbase admin EMAIL --link` beside the server; its link as a path of this server. */
async function linkFor(app: TestApp, email: string, env: Record<string, string> = {}) {
  const { code, out } = await run(['admin', email, '--link'], app.dataDir, {
    ...app.databaseEnv,
    ...env,
  })
  expect(code).toBe(0)
  return /https?:\S+/.exec(out)?.[0] ?? ''
}

const sessionOf = (answer: Response) =>
  answer.headers
    .getSetCookie()
    .map((one) => one.split(';')[0] ?? '')
    .find((one) => one.startsWith('mb_session=')) ?? null

test('a link of the terminal signs its person in once, whatever MB_SIGNIN says', async () => {
  const clock = fakeClock({ start: Date.now() })
  await using app = await startApp({ clock, env: { MB_SIGNIN: 'passkey', MB_SIGNUP: 'closed' } })
  const open = (link: string) => fetch(app.url + new URL(link).pathname, { redirect: 'manual' })
  const link = await linkFor(app, 'ada@example.com', { MB_PUBLIC_URL: `${ORIGIN}/moon/` })
  expect(link).toStartWith(`${ORIGIN}/moon/auth/link/`)
  const path = link.replace('/moon/auth', '/auth')
  expect(await storedIn(app)).not.toContain(link.split('/').at(-1) ?? '')
  const look = { method: 'HEAD', redirect: 'manual' } as const
  expect(sessionOf(await fetch(app.url + new URL(path).pathname, look))).toBeNull()
  const answers = await Promise.all([open(path), open(path), open(path)])
  const sessions = answers.map(sessionOf)
  expect(sessions.filter(Boolean)).toHaveLength(1)
  expect(answers.map(({ status }) => status)).toEqual([302, 302, 302])
  const me = caller(app.url, { cookie: sessions.find(Boolean) ?? '' })
  expect((await me('GET', '/auth/me')).json()).toMatchObject({ email: 'ada@example.com' })
  // It counts as a sign-in: an expired or local name is what still refuses here.
  const host = { host: `localhost:${new URL(app.url).port}` }
  expect((await me('POST', '/auth/passkeys/options', undefined, host)).status).toBe(200)

  const late = await linkFor(app, 'ada@example.com', { MB_PORT: '3900' })
  expect(late).toStartWith('http://localhost:3900/auth/link/')
  clock.advance(11 * 60_000)
  expect(sessionOf(await open(late))).toBeNull()
  expect(sessionOf(await open('http://x/auth/link/none'))).toBeNull()

  const disabled = await linkFor(app, 'eve@example.com')
  await app.db.run({
    sql: 'UPDATE "user" SET disabled = 1 WHERE email = ?',
    args: ['eve@example.com'],
  })
  expect(sessionOf(await open(disabled))).toBeNull()
  expect(sessionOf(await open(await linkFor(app, 'eve@example.com')))).toBeNull()
  expect(app.log()).not.toContain(link.split('/').at(-1) ?? '')
}, 60_000)

test('a link begins with the address that the console has set', async () => {
  await using app = await startApp()
  if (ON_POSTGRES) return
  const operator = caller(app.url, (await app.operator()).headers)
  await operator('PUT', '/console/system', { MB_PUBLIC_URL: 'https://set.example' })
  expect(await linkFor(app, 'ada@example.com')).toStartWith('https://set.example/auth/link/')
}, 60_000)
