import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startApp, type TestApp, type TestPerson } from '../../support/app.ts'

let app: TestApp
let person: TestPerson
beforeAll(async () => {
  app = await startApp()
  person = await app.person()
})
afterAll(() => app[Symbol.asyncDispose]())

const origins: [string, (own: string) => string | null, boolean][] = [
  ['none, as no browser sends it', () => null, true],
  ['its own', (own) => own, true],
  ['another site', () => 'https://evil.example', false],
  ['the opaque one of a sandboxed frame', () => 'null', false],
  ['another port of the same host', () => 'http://127.0.0.1:1', false],
  ['another scheme', (own) => own.replace('http:', 'https:'), false],
  ['another name for the same address', (own) => own.replace('127.0.0.1', 'localhost'), false],
  ['its own as a prefix', (own) => `${own}.evil.example`, false],
  ['its own as a user name', (own) => `${own}@evil.example`, false],
  ['its own and more', (own) => `${own}/`, false],
]

const targets = [
  ['DELETE', '/console/sessions/x', undefined],
  ['POST', '/auth/email/start', '{"email":"a@example.com"}'],
  ['POST', '/auth/email/verify', '{"email":"a@example.com","code":"000000"}'],
  ['POST', '/auth/logout', undefined],
  ['POST', '/auth/native/exchange', '{"code":"x","code_verifier":"y"}'],
] as const

describe('state-changing requests', () => {
  for (const [name, originOf, passes] of origins) {
    test(`a state-changing request ${passes ? 'passes' : 'is refused'}: ${name}`, async () => {
      const origin = originOf(app.url)
      // Logging out ends the session.
      person = await app.person()
      for (const [method, path, body] of targets) {
        const headers = { ...person.headers, ...(origin === null ? {} : { origin }) }
        const response = await fetch(app.url + path, { method, headers, body: body ?? null })
        expect([path, response.status === 403]).toEqual([path, !passes])
        if (!passes) expect(response.headers.get('set-cookie')).toBeNull()
      }
    })
  }

  test('reading requests of other origins are not refused', async () => {
    const headers = { ...(await app.person()).headers, origin: 'https://evil.example' }
    const response = await fetch(`${app.url}/auth/me`, { headers })
    expect(response.status).toBe(200)
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
  })

  test('a CORS preflight for the console allows nothing', async () => {
    const response = await fetch(`${app.url}/console/sessions/x`, {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'DELETE' },
    })
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
    expect(response.headers.get('access-control-allow-methods')).toBeNull()
  })

  test('a cross-origin request without a session is 401, not 403', async () => {
    const response = await fetch(`${app.url}/console/sessions/x`, {
      method: 'DELETE',
      headers: { origin: 'https://evil.example' },
    })
    expect(response.status).toBe(401)
  })
})

describe('behind a proxy', () => {
  const logout = async (server: TestApp, headers: Record<string, string>) =>
    (await fetch(`${server.url}/auth/logout`, { method: 'POST', headers })).status

  test('requests from the origin of MB_PUBLIC_URL pass', async () => {
    await using server = await startApp({ env: { MB_PUBLIC_URL: 'https://bot.example/' } })
    expect(await logout(server, { origin: 'https://bot.example' })).toBe(200)
    expect(await logout(server, { origin: server.url })).toBe(200)
    expect(await logout(server, { origin: 'http://bot.example' })).toBe(403)
    expect(await logout(server, { origin: 'https://bot.example.evil.example' })).toBe(403)
  })

  test('X-Forwarded-Host counts only from trusted proxies', async () => {
    const forwarded = {
      origin: 'https://bot.example',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'bot.example',
    }
    expect(await logout(app, forwarded)).toBe(403)
    await using server = await startApp({ env: { MB_TRUST_PROXY: '1' } })
    expect(await logout(server, forwarded)).toBe(200)
    expect(await logout(server, { ...forwarded, origin: 'https://evil.example' })).toBe(403)
    expect(await logout(server, { ...forwarded, 'x-forwarded-host': 'a@evil' })).toBe(403)
  })
})
