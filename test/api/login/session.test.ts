import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { SignJWT, UnsecuredJWT } from 'jose'
import { deriveKey } from '../../../src/core/crypto.ts'
import { startApp, type TestApp } from '../../support/app.ts'
import { type FakeClock, fakeClock } from '../../support/clock.ts'
import { type SignedIn, signIn } from '../../support/login.ts'

const DAY_MS = 86_400_000

let app: TestApp
let clock: FakeClock
let person: SignedIn
let token: string
beforeAll(async () => {
  clock = fakeClock()
  app = await startApp({ clock })
  person = await signIn(app)
  token = person.headers.cookie.replace('mb_session=', '')
})
afterAll(() => app[Symbol.asyncDispose]())

const status = async (path: string, headers: Record<string, string>) =>
  (await fetch(app.url + path, { headers })).status
const withCookie = (cookie: string) => ({ cookie })

/** The token with one part of it changed. */
function changed(part: number, change: (text: string) => string): string {
  const parts = token.split('.')
  parts[part] = change(parts[part] ?? '')
  return parts.join('.')
}
const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const flip = (text: string) => (text.startsWith('A') ? 'B' : 'A') + text.slice(1)

describe('two sides, two credentials', () => {
  test('a session opens the console and nothing of the machine side', async () => {
    expect(await status('/console/sessions', person.headers)).toBe(200)
    expect(await status('/auth/me', person.headers)).toBe(200)
    expect(await status('/v1/sessions', person.headers)).toBe(401)
  })

  test('a key opens the machine side and nothing of the console', async () => {
    const key = await app.key()
    expect(await status('/v1/sessions', key.headers)).toBe(200)
    expect(await status('/console/sessions', key.headers)).toBe(401)
    expect(await status('/auth/me', key.headers)).toBe(401)
    expect(await status('/console/sessions', withCookie(`mb_session=${key.key}`))).toBe(401)
  })

  test('a session token is no Bearer token', async () => {
    expect(await status('/console/sessions', { authorization: `Bearer ${token}` })).toBe(401)
    expect(await status('/v1/sessions', { authorization: `Bearer ${token}` })).toBe(401)
  })

  test('a missing and a wrong session get the same answer', async () => {
    const [none, wrong] = await Promise.all([
      fetch(`${app.url}/console/sessions`),
      fetch(`${app.url}/console/sessions`, { headers: withCookie('mb_session=x') }),
    ])
    expect(none.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(await none.text()).toBe(await wrong.text())
  })
})

describe('tokens that are none', () => {
  const later = { iat: 1_700_000_000, exp: 4_000_000_000 }
  const forged: [string, () => string | Promise<string>][] = [
    ['empty', () => ''],
    ['no token', () => 'x.y.z'],
    ['another signature', () => changed(2, flip)],
    ['no signature', () => changed(2, () => '')],
    ['another person', () => changed(1, () => base64({ sub: 'someone', ...later }))],
    ['a later end', () => changed(1, () => base64({ sub: person.me.user_id, ...later }))],
    ['algorithm none', () => new UnsecuredJWT({ sub: person.me.user_id, ...later }).encode()],
    [
      'algorithm none in our header',
      () => changed(0, () => base64({ alg: 'none', typ: 'mb-session+jwt' })),
    ],
    [
      'signed with another secret',
      () =>
        new SignJWT({ sub: person.me.user_id, ...later })
          .setProtectedHeader({ alg: 'HS256', typ: 'mb-session+jwt' })
          .sign(new Uint8Array(32)),
    ],
    ['a very long one', () => `${token}${'A'.repeat(4_000)}`],
  ]
  for (const [name, make] of forged) {
    test(`a forged session token is 401: ${name}`, async () => {
      expect(await status('/auth/me', withCookie(`mb_session=${await make()}`))).toBe(401)
      expect(await status('/console/sessions', withCookie(`mb_session=${await make()}`))).toBe(401)
    })
  }

  test('a session of another server is 401', async () => {
    await using elsewhere = await startApp()
    const stranger = await signIn(elsewhere)
    expect(await status('/auth/me', stranger.headers)).toBe(401)
  })

  test('a session of a deleted person is 401', async () => {
    const gone = await signIn(app, 'gone@example.com')
    await app.db.run({ sql: 'DELETE FROM "user" WHERE id = ?', args: [gone.me.user_id] })
    expect(await status('/auth/me', gone.headers)).toBe(401)
    expect(await status('/console/sessions', gone.headers)).toBe(401)
  })

  test('a session under another cookie name is 401', async () => {
    expect(await status('/auth/me', withCookie(`MB_SESSION=${token}`))).toBe(401)
    expect(await status('/auth/me', withCookie(`xmb_session=${token}`))).toBe(401)
  })

  test('a planted cookie beside the session cookie does not log the person out', async () => {
    const planted = withCookie(`mb_session=planted; theme=dark; mb_session=${token}`)
    expect(await status('/auth/me', planted)).toBe(200)
  })
})

describe('the end of a session', () => {
  test('a session ends after seven days', async () => {
    const own = fakeClock()
    await using server = await startApp({ clock: own })
    const { headers } = await signIn(server)
    own.advance(7 * DAY_MS - 1_000)
    expect((await fetch(`${server.url}/auth/me`, { headers })).status).toBe(200)
    own.advance(1_000)
    expect((await fetch(`${server.url}/auth/me`, { headers })).status).toBe(401)
  })

  test('logout clears the cookie, with or without a session', async () => {
    const leaving = await signIn(app, 'leaving@example.com')
    for (const headers of [leaving.headers, {}]) {
      const response = await fetch(`${app.url}/auth/logout`, { method: 'POST', headers })
      expect(response.status).toBe(200)
      expect(await response.json()).toEqual({ ok: true })
      expect(response.headers.get('set-cookie')).toBe(
        'mb_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure',
      )
    }
  })

  test('sessions outlive a restart, and a new secret ends them', async () => {
    const secret = { MB_SESSION_SECRET: Buffer.alloc(32, 7).toString('base64') }
    await using first = await startApp({ env: secret })
    const { headers, me } = await signIn(first)
    await using same = await startApp({ env: { ...secret, MB_DATA_DIR: first.dataDir } })
    expect(await (await fetch(`${same.url}/auth/me`, { headers })).json()).toEqual(me)
    await using changed = await startApp({ env: { MB_DATA_DIR: first.dataDir } })
    expect((await fetch(`${changed.url}/auth/me`, { headers })).status).toBe(401)
  })
})

test('a session stays valid until its seven days end', async () => {
  const secret = Buffer.alloc(32, 9)
  const own = fakeClock()
  await using server = await startApp({
    clock: own,
    env: { MB_SESSION_SECRET: secret.toString('base64') },
  })
  const { me } = await signIn(server)
  const seconds = Math.floor(own.now() / 1000)
  const signed = await new SignJWT({ sid: 'session-1' })
    .setProtectedHeader({ alg: 'HS256', typ: 'mb-session+jwt' })
    .setSubject(me.user_id)
    .setIssuedAt(seconds)
    .setExpirationTime(seconds + 7 * 24 * 60 * 60)
    .sign(deriveKey(secret, 'session'))
  const headers = withCookie(`mb_session=${signed}`)
  expect(await (await fetch(`${server.url}/auth/me`, { headers })).json()).toEqual(me)
  own.advance(7 * DAY_MS)
  expect((await fetch(`${server.url}/auth/me`, { headers })).status).toBe(401)
})

test('a session is checked although all threads of the runtime are busy', async () => {
  const busy = () => new Promise<never>(() => {})
  const names = ['importKey', 'sign', 'verify', 'digest', 'encrypt', 'decrypt'] as const
  await using server = await startApp({
    env: { MB_GITHUB_CLIENT_ID: 'id', MB_GITHUB_CLIENT_SECRET: 'secret' },
  })
  const spies = names.map((name) => spyOn(crypto.subtle, name).mockImplementation(busy))
  try {
    const { headers } = await signIn(server)
    expect((await fetch(`${server.url}/auth/me`, { headers })).status).toBe(200)
    expect((await fetch(`${server.url}/console/sessions`, { headers })).status).toBe(200)
    const away = await fetch(`${server.url}/auth/oauth/github`, { redirect: 'manual' })
    expect(away.headers.get('location')).toStartWith('https://github.com/login/oauth/authorize?')
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
})

test('MB_COOKIE_SECURE=false allows login over plain http', async () => {
  await using plain = await startApp({ env: { MB_COOKIE_SECURE: 'false' } })
  expect((await signIn(plain)).setCookie).not.toContain('Secure')
  expect(plain.log()).toContain('"setting":"MB_COOKIE_SECURE"')
})

test('answers of the login routes are not cached', async () => {
  for (const path of ['/auth/methods', '/auth/me', '/console/sessions']) {
    const response = await fetch(app.url + path, { headers: person.headers })
    expect(response.headers.get('cache-control')).toBe('no-store')
  }
})

test('/auth/methods lists the configured ways of login', async () => {
  const methods = await (await fetch(`${app.url}/auth/methods`)).json()
  expect(methods).toEqual({
    ...{ email: true, email_delivery: 'terminal', mail: 'terminal' },
    ...{ oauth: [], passkey: false },
  })
})

test('unknown paths and wrong methods below /auth are 404 and 405', async () => {
  const unknown = await fetch(`${app.url}/auth/nothing`)
  expect([unknown.status, await unknown.text()]).toEqual([404, '路径不存在'])
  const wrong = await fetch(`${app.url}/auth/email/start`)
  expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST'])
})
