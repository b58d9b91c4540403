import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../../support/app.ts'
import { type FakeClock, fakeClock } from '../../support/clock.ts'
import { codesFor, requestCode, signIn, verifyCode } from '../../support/login.ts'
import { storedIn } from '../../support/stored.ts'

let app: TestApp
let clock: FakeClock
beforeAll(async () => {
  clock = fakeClock()
  app = await startApp({ clock, env: { MB_TRUST_PROXY: '1' } })
})
afterAll(() => app[Symbol.asyncDispose]())

/** Everyone in these tests comes from an address of their own, as limits count by it. */
let callers = 0
const from = () => ({ 'x-forwarded-for': `198.51.100.${++callers % 250}` })
const start = (body: unknown, headers: Record<string, string> = from()) =>
  fetch(`${app.url}/auth/email/start`, { method: 'POST', body: JSON.stringify(body), headers })
const verify = (body: unknown) =>
  fetch(`${app.url}/auth/email/verify`, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: from(),
  })
/** A code of six digits that is not the one given. */
const other = (code: string, step = 1) => String((Number(code) + step) % 1_000_000).padStart(6, '0')

describe('login by e-mail code', () => {
  test('a login code signs in, with the address trimmed and in lower case', async () => {
    const code = await requestCode(app, 'ada@example.com', from())
    const response = await verifyCode(app, '  Ada@Example.COM ', code, from())
    expect(response.status).toBe(200)
    const me = await response.json()
    const fields = ['daily_tokens', 'email', 'operator', 'role', 'tenant_id', 'tenants']
    fields.push('tokens_today', 'user_id')
    expect(Object.keys(me).sort()).toEqual(fields)
    expect(me.email).toBe('ada@example.com')
    const cookie = response.headers.get('set-cookie') ?? ''
    const seen = await fetch(`${app.url}/auth/me`, {
      headers: { cookie: cookie.split(';')[0] ?? '' },
    })
    expect(await seen.json()).toEqual(me)
  })

  test('each person has one tenant, the same at every login', async () => {
    const first = await signIn(app, 'tom@example.com')
    const again = await signIn(app, 'tom@example.com')
    const other = await signIn(app, 'tim@example.com')
    expect(again.me).toEqual(first.me)
    expect(other.me.tenant_id).not.toBe(first.me.tenant_id)
  })

  test('the session cookie is HttpOnly, Lax and Secure for 7 days', async () => {
    const { setCookie } = await signIn(app, 'cookie@example.com')
    const [pair, ...attributes] = setCookie.split('; ')
    expect(pair).toMatch(/^mb_session=[\w-]+\.[\w-]+\.[\w-]+$/)
    expect(attributes.sort()).toEqual([
      'HttpOnly',
      'Max-Age=604800',
      'Path=/',
      'SameSite=Lax',
      'Secure',
    ])
  })

  test('a login code has six digits and signs in once', async () => {
    const code = await requestCode(app, 'once@example.com', from())
    expect(code).toMatch(/^\d{6}$/)
    expect((await verifyCode(app, 'once@example.com', code, from())).status).toBe(200)
    expect((await verifyCode(app, 'once@example.com', code, from())).status).toBe(401)
  })

  test('a login code signs in one of many requests at the same time', async () => {
    const code = await requestCode(app, 'race@example.com', from())
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => verifyCode(app, 'race@example.com', code, from())),
    )
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([200, ...Array.from({ length: 39 }, () => 401)])
  })

  test('a new login code voids the one before', async () => {
    const old = await requestCode(app, 'newer@example.com', from())
    const code = await requestCode(app, 'newer@example.com', from())
    if (old !== code) {
      expect((await verifyCode(app, 'newer@example.com', old, from())).status).toBe(401)
    }
    expect((await verifyCode(app, 'newer@example.com', code, from())).status).toBe(200)
  })

  test('a login code of one address does not sign in another', async () => {
    const code = await requestCode(app, 'mine@example.com', from())
    await requestCode(app, 'yours@example.com', from())
    const theirs = codesFor('yours@example.com', app.printed.text()).at(-1)
    if (theirs !== code) {
      expect((await verifyCode(app, 'yours@example.com', code, from())).status).toBe(401)
    }
  })

  test('a login code is valid for five minutes', async () => {
    const late = await requestCode(app, 'late@example.com', from())
    clock.advance(5 * 60_000)
    expect((await verifyCode(app, 'late@example.com', late, from())).status).toBe(401)
    const code = await requestCode(app, 'late@example.com', from())
    clock.advance(5 * 60_000 - 1)
    expect((await verifyCode(app, 'late@example.com', code, from())).status).toBe(200)
  })

  test('every wrong login value gets the same 401', async () => {
    const code = await requestCode(app, 'known@example.com', from())
    const answers = await Promise.all([
      verify({ email: 'known@example.com', code: other(code) }),
      verify({ email: 'nobody@example.com', code: '000000' }),
      verify({ email: 'known@example.com', code: '' }),
      verify({ email: 'known@example.com', code: 'x'.repeat(10_000) }),
      verify({ email: 'no address', code: '000000' }),
      verify({ email: '', code: '\0' }),
      verify({ email: '__proto__', code: '000000' }),
    ])
    const texts = await Promise.all(answers.map((answer) => answer.text()))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 401))
    expect(new Set(texts)).toEqual(new Set(['验证码错误或已过期']))
    expect(answers.every((answer) => answer.headers.get('set-cookie') === null)).toBe(true)
  })

  test('login codes are not written to disk', async () => {
    const code = await requestCode(app, 'disk@example.com', from())
    expect(await storedIn(app)).not.toContain(code)
  })
})

describe('bodies', () => {
  const bad: [string, unknown, RegExp][] = [
    ['no field', {}, /email/],
    ['null', { email: null }, /email/],
    ['a number', { email: 5 }, /email/],
    ['a list', { email: ['a@example.com'] }, /email/],
    ['no address', { email: 'example.com' }, /邮箱/],
    ['two addresses', { email: 'a@example.com,b@example.com' }, /邮箱/],
    ['a name beside it', { email: 'A <a@example.com>' }, /邮箱/],
    ['a header in it', { email: 'a@example.com\r\nBcc: b@example.com' }, /邮箱/],
    ['a null byte', { email: 'a\0@example.com' }, /邮箱/],
    ['too long', { email: `${'a'.repeat(250)}@example.com` }, /邮箱/],
    // The Kelvin sign turns into k when lower-cased.
    ['a letter that turns into an ASCII one', { email: '\u212Aate@example.com' }, /邮箱/],
  ]
  for (const [name, body, words] of bad) {
    test(`starting a login with ${name} is 400`, async () => {
      const response = await start(body)
      expect(response.status).toBe(400)
      expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
      expect(await response.text()).toMatch(words)
    })
  }

  test('starting a login without a JSON object is 400', async () => {
    for (const body of ['', '{', '[]', 'null', '"a@example.com"', '{"email":']) {
      const response = await fetch(`${app.url}/auth/email/start`, {
        method: 'POST',
        body,
        headers: from(),
      })
      expect(response.status).toBe(400)
    }
  })

  test('verifying a login code with a missing field or a wrong type is 400', async () => {
    for (const body of [{}, { email: 'a@example.com' }, { code: '1' }, { email: 1, code: '1' }]) {
      expect((await verify(body)).status).toBe(400)
    }
    expect((await verify({ email: 'a@example.com', code: 123456 })).status).toBe(400)
  })

  test('a login body over 1 MB is 413', async () => {
    expect((await start({ email: 'a@example.com', more: 'x'.repeat(1_100_000) })).status).toBe(413)
  })
})

describe('limits', () => {
  test('an e-mail address gets five login codes in ten minutes', async () => {
    for (let n = 0; n < 5; n++) {
      expect((await start({ email: 'many@example.com' })).status).toBe(200)
    }
    const refused = await start({ email: 'Many@example.com' })
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBe(600)
    expect((await start({ email: 'other@example.com' })).status).toBe(200)
    clock.advance(10 * 60_000)
    expect((await start({ email: 'many@example.com' })).status).toBe(200)
  })

  test('a client address starts twenty logins a minute, whatever it claims to be', async () => {
    const caller = (n: number) => ({ 'x-forwarded-for': `10.9.8.${n}, 203.0.113.9` })
    for (let n = 0; n < 20; n++) {
      expect((await start({ email: `p${n}@example.com` }, caller(n))).status).toBe(200)
    }
    const refused = await start({ email: 'p20@example.com' }, caller(20))
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    clock.advance(60_000)
    expect((await start({ email: 'p20@example.com' }, caller(21))).status).toBe(200)
  })

  test('malformed login requests count against the limit of their address', async () => {
    const caller = { 'x-forwarded-for': '203.0.113.10' }
    for (let n = 0; n < 20; n++) expect((await start({}, caller)).status).toBe(400)
    expect((await start({}, caller)).status).toBe(429)
  })

  test('login requests of one IPv6 /64 count together', async () => {
    const caller = (n: number) => ({ 'x-forwarded-for': `2001:db8:1:2::${n}` })
    for (let n = 1; n <= 20; n++) {
      expect((await start({ email: `v${n}@example.com` }, caller(n))).status).toBe(200)
    }
    expect((await start({ email: 'v21@example.com' }, caller(21))).status).toBe(429)
  })
})
