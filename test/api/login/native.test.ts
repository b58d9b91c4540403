import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash, randomBytes } from 'node:crypto'
import { startApp, type TestApp } from '../../support/app.ts'
import { type FakeClock, fakeClock } from '../../support/clock.ts'
import {
  consent,
  consentedCode,
  consentPage,
  fieldsOf,
  sendConsent,
} from '../../support/consent.ts'
import { type SignedIn, signIn } from '../../support/login.ts'
import { pass } from '../../support/pass.ts'

let app: TestApp
let clock: FakeClock
let person: SignedIn
beforeAll(async () => {
  clock = fakeClock()
  app = await startApp({ clock, env: { MB_APP_SCHEMES: 'moonbase,com.example.app' } })
  person = await signIn(app)
})
afterAll(() => app[Symbol.asyncDispose]())

const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url')

function attempt(more: Record<string, string> = {}) {
  clock.advance(60_000)
  const verifier = randomBytes(32).toString('base64url')
  const query = new URLSearchParams({
    code_challenge: challengeOf(verifier),
    code_challenge_method: 'S256',
    app_scheme: 'moonbase',
    ...more,
  })
  return { verifier, path: `/auth/native/authorize?${query}` }
}

const authorize = (path: string, headers: Record<string, string> = person.headers) =>
  consentPage(app.url, path, headers)
const allow = (path: string) => consent(app.url, path, person.headers)
const codeFor = (path: string) => consentedCode(app.url, path, person.headers)

const exchange = (body: unknown) =>
  fetch(`${app.url}/auth/native/exchange`, { method: 'POST', body: JSON.stringify(body) })

describe('login of a native app', () => {
  test('a native app gets a key of the person, once', async () => {
    const { verifier, path } = attempt()
    const response = await allow(path)
    expect(response.status).toBe(302)
    const location = response.headers.get('location') ?? ''
    expect(location).toMatch(/^moonbase:\/\/auth\/callback\?code=[\w-]{43}$/)
    const code = location.split('code=')[1]
    const exchanged = await exchange({ code, code_verifier: verifier })
    expect(exchanged.status).toBe(200)
    expect(exchanged.headers.get('cache-control')).toBe('no-store')
    const { api_key, tenant_id, ...rest } = await exchanged.json()
    expect(rest).toEqual({})
    expect(tenant_id).toBe(person.me.tenant_id)
    expect(api_key).toMatch(/^sk-mb-[0-9a-f]{64}$/)
    const used = await fetch(`${app.url}/v1/sessions`, {
      headers: { authorization: `Bearer ${api_key}` },
    })
    expect(used.status).toBe(200)
    expect(used.headers.get('x-ratelimit-limit')).toBe('60')
    expect((await exchange({ code, code_verifier: verifier })).status).toBe(401)
  })

  test('a native app may use any listed scheme', async () => {
    const { path } = attempt({ app_scheme: 'com.example.app' })
    expect((await allow(path)).headers.get('location')).toStartWith('com.example.app://auth/')
  })

  test('a native login without a session leads to the login page and back', async () => {
    const { path } = attempt()
    const response = await authorize(path, {})
    expect(response.status).toBe(302)
    const location = new URL(response.headers.get('location') ?? '', app.url)
    expect([location.origin, location.pathname]).toEqual([app.url, '/login'])
    const next = location.searchParams.get('next') ?? ''
    expect(next).toStartWith('/auth/native/authorize?')
    expect((await allow(next)).headers.get('location')).toStartWith('moonbase://')
  })

  test('one of many simultaneous exchanges of a login code gets a key', async () => {
    const { verifier, path } = attempt()
    const code = await codeFor(path)
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => exchange({ code, code_verifier: verifier })),
    )
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([200, ...Array.from({ length: 29 }, () => 401)])
  })

  test('a wrong PKCE verifier spends the exchange code', async () => {
    const { verifier, path } = attempt()
    const code = await codeFor(path)
    const wrong = await exchange({ code, code_verifier: challengeOf(verifier) })
    expect([wrong.status, await wrong.text()]).toEqual([401, '授权码无效或已过期'])
    expect((await exchange({ code, code_verifier: verifier })).status).toBe(401)
  })

  test('an exchange code is valid for five minutes', async () => {
    const late = attempt()
    const code = await codeFor(late.path)
    await pass(app, clock, 5 * 60_000)
    expect((await exchange({ code, code_verifier: late.verifier })).status).toBe(401)
  })

  test('an unknown exchange code is 401, a malformed body 400', async () => {
    await pass(app, clock, 60_000)
    expect((await exchange({ code: 'x', code_verifier: '' })).status).toBe(401)
    expect((await exchange({ code: '__proto__', code_verifier: 'y' })).status).toBe(401)
    for (const body of [{}, { code: 'x' }, { code: 1, code_verifier: 'y' }, [], null]) {
      expect((await exchange(body)).status).toBe(400)
    }
  })
})

describe('the page that asks for consent', () => {
  test('the page makes no code, tells what the app gets, and refuses to be framed', async () => {
    const { path } = attempt()
    const page = await authorize(path)
    expect([page.status, page.headers.get('location')]).toEqual([200, null])
    const html = await page.text()
    expect(html).toContain(person.me.email)
    expect(html).toContain('moonbase://auth/callback?error=access_denied')
    expect(html).not.toContain('code=')
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(page.headers.get('cache-control')).toBe('no-store')
  })

  test('the page has the language of the browser, and both for the console', async () => {
    for (const [wanted, lang] of [
      ['en-GB,en;q=0.9', 'en'],
      ['zh-CN,zh;q=0.9,en;q=0.8', 'zh-CN'],
    ]) {
      const { path } = attempt()
      const headers = { ...person.headers, 'accept-language': wanted ?? '' }
      const html = await (await authorize(path, headers)).text()
      expect(html).toContain(`<html lang="${lang}"`)
      expect(html).toContain('允许')
      expect(html).toContain('Allow')
    }
  })

  test('names in the page are text', async () => {
    const put = { method: 'PUT', headers: person.headers }
    const body = JSON.stringify({ name: '<script>x</script>"\'' })
    await fetch(`${app.url}/console/settings`, { ...put, body })
    const html = await (await authorize(attempt().path)).text()
    expect(html).not.toContain('<script>x')
    await fetch(`${app.url}/console/settings`, { ...put, body: '{}' })
  })

  test('without what this session was shown there is no code', async () => {
    const { path } = attempt()
    const form = fieldsOf(await (await authorize(path)).text())
    const without = new URLSearchParams(form)
    without.delete('consent')
    const forged = new URLSearchParams(form)
    forged.set('consent', `${form.get('consent')?.split('.')[0]}.${'A'.repeat(43)}`)
    const otherApp = new URLSearchParams(form)
    otherApp.set('app_scheme', 'com.example.app')
    for (const wrong of [without, forged, otherApp]) {
      const answer = await sendConsent(app.url, wrong, person.headers)
      expect([answer.status, answer.headers.get('x-error-code')]).toEqual([400, 'consent_missing'])
    }
    const again = await signIn(app)
    expect((await sendConsent(app.url, form, again.headers)).status).toBe(400)
    expect((await sendConsent(app.url, form, person.headers)).status).toBe(302)
  })

  test('the page of another site cannot consent, nor can nobody', async () => {
    const { path } = attempt()
    const form = fieldsOf(await (await authorize(path)).text())
    const foreign = await fetch(`${app.url}/auth/native/authorize`, {
      method: 'POST',
      headers: { ...person.headers, origin: 'https://evil.example' },
      body: form,
      redirect: 'manual',
    })
    expect(foreign.status).toBe(403)
    const nobody = await sendConsent(app.url, form, {})
    expect(nobody.headers.get('location')).toStartWith('/login?next=')
  })

  test('a page that was open for ten minutes is too old', async () => {
    const { path } = attempt()
    const form = fieldsOf(await (await authorize(path)).text())
    await pass(app, clock, 10 * 60_000)
    expect((await sendConsent(app.url, form, person.headers)).status).toBe(400)
  })
})

describe('requests that are refused, signed in or not', () => {
  const bad: [string, Record<string, string>][] = [
    ['method plain', { code_challenge_method: 'plain' }],
    ['method in lower case', { code_challenge_method: 's256' }],
    ['no method', { code_challenge_method: '' }],
    ['short challenge', { code_challenge: 'A'.repeat(42) }],
    ['long challenge', { code_challenge: 'A'.repeat(44) }],
    ['challenge that is no base64url', { code_challenge: `${'A'.repeat(42)}=` }],
    ['no challenge', { code_challenge: '' }],
    ['another scheme', { app_scheme: 'evil' }],
    ['a web address', { app_scheme: 'https://evil.example/?' }],
    ['a script', { app_scheme: 'javascript' }],
    ['a header', { app_scheme: 'moonbase\r\nset-cookie: a=b' }],
    ['no scheme', { app_scheme: '' }],
  ]
  for (const [name, more] of bad) {
    test(`a native login is refused: ${name}`, async () => {
      for (const headers of [person.headers, {}]) {
        const response = await authorize(attempt(more).path, headers)
        expect([response.status, response.headers.get('location')]).toEqual([400, null])
      }
    })
  }

  test('a native login with a parameter given twice is refused', async () => {
    expect((await authorize(`${attempt().path}&app_scheme=moonbase`)).status).toBe(400)
  })
})
