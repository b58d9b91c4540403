import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../../support/app.ts'
import { type Browser, createBrowser } from '../../support/browser.ts'
import { signIn } from '../../support/login.ts'
import { startIssuer } from '../../support/openid-issuer.ts'

let issuer: Awaited<ReturnType<typeof startIssuer>>
let app: TestApp
beforeAll(async () => {
  issuer = await startIssuer()
  app = await startApp({ env: { ...issuer.settings, MB_OIDC_NAME: '公司登录' } })
})
beforeEach(() => {
  issuer.open(`${app.url}/auth/oauth/oidc/callback`)
  issuer.signsIn({ sub: 'ada', email: 'Ada@Example.com', email_verified: true })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await issuer.stop()
})

const isBack = (url: URL) => url.origin === app.url && !url.pathname.startsWith('/auth/')
const isCallback = (url: URL) => url.pathname.endsWith('/callback') && url.origin === app.url
const login = (browser: Browser, query = '') =>
  browser.follow(`${app.url}/auth/oauth/oidc${query}`, isBack)
/** Path and query of where a login ended. */
const end = (url: URL) => url.href.slice(app.url.length)

describe('login by an OpenID issuer', () => {
  test('login by OpenID is offered under its configured name', async () => {
    const methods = await (await fetch(`${app.url}/auth/methods`)).json()
    expect(methods.oauth).toEqual([{ id: 'oidc', name: '公司登录' }])
  })

  test('login by OpenID sends state, nonce and PKCE, sealed in the cookie', async () => {
    const browser = createBrowser()
    const response = await browser.get(`${app.url}/auth/oauth/oidc`)
    expect(response.status).toBe(302)
    const location = new URL(response.headers.get('location') ?? '')
    expect(location.origin).toBe(issuer.url)
    const query = Object.fromEntries(location.searchParams)
    expect(query).toMatchObject({
      client_id: 'moonbase',
      response_type: 'code',
      code_challenge_method: 'S256',
      redirect_uri: `${app.url}/auth/oauth/oidc/callback`,
      scope: 'openid email',
    })
    expect(query.state).toMatch(/^[\w-]{43}$/)
    expect(query.nonce).toMatch(/^[\w-]{43}$/)
    expect(query.code_challenge).toMatch(/^[\w-]{43}$/)
    const cookie = response.headers.get('set-cookie') ?? ''
    expect(cookie.split('; ').slice(1).sort()).toEqual([
      'HttpOnly',
      'Max-Age=600',
      'Path=/auth/oauth',
      'SameSite=Lax',
      'Secure',
    ])
    for (const secret of [query.state, query.nonce]) expect(cookie).not.toContain(secret)
  })

  test('login by OpenID signs in the person of the verified address', async () => {
    const known = await signIn(app, 'ada@example.com')
    const browser = createBrowser()
    expect(end(await login(browser))).toBe('/')
    expect(await (await browser.get(`${app.url}/auth/me`)).json()).toEqual(known.me)
    expect([...browser.cookies(app.url).keys()]).toEqual(['mb_session'])
  })

  test('login by OpenID returns to the page that was asked for, on this site only', async () => {
    const nexts: [string, string][] = [
      ['/app/keys?x=1#top', '/app/keys?x=1#top'],
      ['https://evil.example/', '/'],
      ['//evil.example', '/'],
      ['/\\evil.example', '/'],
      ['/.//evil.example', '/'],
    ]
    for (const [next, place] of nexts) {
      const url = await login(createBrowser(), `?next=${encodeURIComponent(next)}`)
      expect(end(url)).toBe(place)
    }
  })

  test('an address that the issuer has not verified signs nobody in', async () => {
    await signIn(app, 'victim@example.com')
    const people = [
      { sub: 'eve', email: 'victim@example.com', email_verified: false },
      { sub: 'eve', email: 'victim@example.com' },
      { sub: 'eve' },
      { sub: 'eve', email: 'owner@localhost', email_verified: true },
      { sub: 'eve', email: '\u212Aate@example.com', email_verified: true },
    ]
    for (const person of people) {
      issuer.signsIn(person)
      const browser = createBrowser()
      expect(end(await login(browser))).toBe('/login?error=unverified_email')
      expect(browser.cookies(app.url).has('mb_session')).toBe(false)
    }
  })

  test('a person who declines at the issuer sees that reason', async () => {
    issuer.signsIn(null)
    expect(end(await login(createBrowser()))).toBe('/login?error=denied')
  })

  for (const method of ['client_secret_basic', 'client_secret_post'] as const) {
    test(`the client secret is sent by ${method}`, async () => {
      let withBasic = false
      const watching = async (input: string | URL | Request, init?: RequestInit) => {
        if (String(input).endsWith('/token')) {
          withBasic = new Headers(init?.headers).has('authorization')
        }
        return fetch(input, init)
      }
      const seen = Object.assign(watching, { preconnect: fetch.preconnect })
      await using server = await startApp({ env: issuer.settings, fetch: seen })
      issuer.open(`${server.url}/auth/oauth/oidc/callback`, method)
      const browser = createBrowser()
      await browser.follow(`${server.url}/auth/oauth/oidc`, ({ href }) => href === `${server.url}/`)
      expect(browser.cookies(server.url).has('mb_session')).toBe(true)
      expect(withBasic).toBe(method === 'client_secret_basic')
    })
  }
})

describe('a callback that does not belong to its browser', () => {
  /** A login up to the point where the provider sends the browser back. */
  async function upToCallback(browser: Browser) {
    return browser.follow(`${app.url}/auth/oauth/oidc`, isCallback)
  }

  test('a callback without the cookie of its browser signs nobody in', async () => {
    const callback = await upToCallback(createBrowser())
    const victim = createBrowser()
    expect(end(await victim.follow(callback.href, isBack))).toBe('/login?error=expired')
    expect(victim.cookies(app.url).has('mb_session')).toBe(false)
  })

  test('a callback with the cookie of another login signs nobody in', async () => {
    const callback = await upToCallback(createBrowser())
    const victim = createBrowser()
    await upToCallback(victim)
    expect(end(await victim.follow(callback.href, isBack))).toBe('/login?error=expired')
  })

  test('a callback signs in once', async () => {
    const browser = createBrowser()
    const callback = await upToCallback(browser)
    expect(end(await browser.follow(callback.href, isBack))).toBe('/')
    expect(end(await browser.follow(callback.href, isBack))).toBe('/login?error=expired')
  })

  const broken: [string, (callback: URL) => void][] = [
    ['another state', (url) => url.searchParams.set('state', 'x'.repeat(43))],
    ['no state', (url) => url.searchParams.delete('state')],
    ['two states', (url) => url.searchParams.append('state', 'y')],
    ['another code', (url) => url.searchParams.set('code', 'x')],
    ['no code', (url) => url.searchParams.delete('code')],
    ['another issuer', (url) => url.searchParams.set('iss', 'https://evil.example')],
    ['words of its own', (url) => url.searchParams.set('error', '<script>alert(1)</script>')],
    ['another provider', (url) => url.pathname.replace('oidc', 'github')],
  ]
  for (const [name, breakIt] of broken) {
    test(`a callback signs nobody in: ${name}`, async () => {
      const browser = createBrowser()
      const callback = await upToCallback(browser)
      if (name === 'another provider') callback.pathname = '/auth/oauth/github/callback'
      else breakIt(callback)
      const url = await browser.follow(callback.href, isBack)
      expect(end(url)).toMatch(/^\/login\?error=(expired|failed)$/)
      expect(browser.cookies(app.url).has('mb_session')).toBe(false)
    })
  }

  test('a provider that is not configured is 404, its callback expired', async () => {
    const response = await fetch(`${app.url}/auth/oauth/google/callback?code=x&state=y`, {
      redirect: 'manual',
    })
    expect(response.headers.get('location')).toBe('/login?error=expired')
    expect((await fetch(`${app.url}/auth/oauth/google`)).status).toBe(404)
    expect((await fetch(`${app.url}/auth/oauth/__proto__`)).status).toBe(404)
  })
})

describe('a token answer that was tampered with', () => {
  /** The network, with the issuer's token answer changed on its way. */
  const tampering = (change: (tokens: Record<string, string>) => void): typeof fetch =>
    Object.assign(
      async (input: string | URL | Request, init?: RequestInit) => {
        const response = await fetch(input, init)
        if (!String(input).endsWith('/token')) return response
        const tokens = (await response.json()) as Record<string, string>
        change(tokens)
        return Response.json(tokens, response)
      },
      { preconnect: fetch.preconnect },
    )
  const claim = (idToken: string, more: object) => {
    const [head, body = '', signature] = idToken.split('.')
    const claims = { ...JSON.parse(Buffer.from(body, 'base64url').toString()), ...more }
    const changed = Buffer.from(JSON.stringify(claims)).toString('base64url')
    return [head, changed, signature].join('.')
  }
  const cases: [string, (tokens: Record<string, string>) => void][] = [
    [
      'another address',
      (tokens) => {
        const eve = { email: 'victim@example.com', email_verified: true }
        tokens.id_token = claim(tokens.id_token ?? '', eve)
      },
    ],
    [
      'another nonce',
      (tokens) => {
        tokens.id_token = claim(tokens.id_token ?? '', { nonce: 'x' })
      },
    ],
    [
      'no id token',
      (tokens) => {
        delete tokens.id_token
      },
    ],
  ]
  for (const [name, change] of cases) {
    test(`a tampered token answer signs nobody in: ${name}`, async () => {
      await using server = await startApp({ env: issuer.settings, fetch: tampering(change) })
      issuer.open(`${server.url}/auth/oauth/oidc/callback`)
      const browser = createBrowser()
      const isThere = ({ origin, pathname }: URL) =>
        origin === server.url && !pathname.startsWith('/auth/')
      const url = await browser.follow(`${server.url}/auth/oauth/oidc`, isThere)
      expect(url.href).toBe(`${server.url}/login?error=failed`)
      expect(browser.cookies(server.url).has('mb_session')).toBe(false)
    })
  }
})

test('an unreachable issuer is reported as provider_unavailable', async () => {
  const gone = await startIssuer()
  await gone.stop()
  await using server = await startApp({ env: gone.settings })
  const response = await fetch(`${server.url}/auth/oauth/oidc`, { redirect: 'manual' })
  expect(response.headers.get('location')).toBe('/login?error=provider_unavailable')
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
})

test('MB_SIGNUP applies to login by OpenID', async () => {
  await using server = await startApp({ env: { ...issuer.settings, MB_SIGNUP: 'closed' } })
  issuer.open(`${server.url}/auth/oauth/oidc/callback`)
  const isThere = ({ origin, pathname }: URL) =>
    origin === server.url && !pathname.startsWith('/auth/')
  const stranger = await createBrowser().follow(`${server.url}/auth/oauth/oidc`, isThere)
  expect(stranger.href).toBe(`${server.url}/login?error=signup_closed`)
  await server.key('ada@example.com')
  const known = await createBrowser().follow(`${server.url}/auth/oauth/oidc`, isThere)
  expect(known.href).toBe(`${server.url}/`)
})

test('the redirect address of OpenID follows MB_PUBLIC_URL', async () => {
  await using server = await startApp({
    env: { ...issuer.settings, MB_PUBLIC_URL: 'https://bot.example' },
  })
  const response = await fetch(`${server.url}/auth/oauth/oidc`, { redirect: 'manual' })
  const location = new URL(response.headers.get('location') ?? '')
  expect(location.searchParams.get('redirect_uri')).toBe(
    'https://bot.example/auth/oauth/oidc/callback',
  )
})
