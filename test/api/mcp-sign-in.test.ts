import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { ConfigExport } from '../../src/features/transfer/model.ts'
import { sql } from '../../src/storage/db.ts'
import { startSigning } from '../support/mcp-signing.ts'

let all: Awaited<ReturnType<typeof startSigning>>

beforeAll(async () => {
  all = await startSigning()
})
afterEach(() => all.reset())
afterAll(() => all.stop())

describe('signing in at an MCP server', () => {
  test('a server waits for a person, whom a registered client signs in', async () => {
    const me = await all.tenant()
    all.guard()
    const made = await me.add(all.server.url, { auth: 'oauth' })
    expect(made).toMatchObject({ auth: 'oauth', state: 'sign_in', signed_in: false, tools: [] })
    const { url, cookie, status } = await me.signIn(made.id)
    expect(status).toBe(200)
    const query = Object.fromEntries(new URL(url).searchParams)
    expect(query).toMatchObject({
      client_id: expect.stringMatching(/^client-/),
      redirect_uri: `${all.app.url}/auth/mcp/callback`,
      response_type: 'code',
      code_challenge_method: 'S256',
      resource: all.server.url,
      scope: 'tools',
    })
    const place = await me.back(all.issuer.consents(url), cookie)
    expect(place).toBe(`/app/tools?signed_in=${made.id}`)
    const signed = await me.read(made.id)
    expect(signed).toMatchObject({
      state: 'ready',
      signed_in: true,
      signed_in_by: me.email,
      signed_in_at: expect.any(String),
      tools: [{ name: 'echo' }],
    })
    expect(JSON.stringify(signed)).not.toContain('SECRET')
    await me.use(signed)
    expect(await me.calls('home__echo', { text: 'hello' })).toMatchObject({ ok: true })
    expect(all.app.log()).not.toContain('SECRET')
  })

  test('tokens lie sealed in the database, and an export has none', async () => {
    const me = await all.tenant()
    await me.signed({ scopes: 'tools more' })
    const rows = await all.app.db.all<{ sealed: Uint8Array }>(sql`SELECT sealed FROM mcp_grant`)
    expect(rows.length).toBeGreaterThan(0)
    expect(rows.some(({ sealed }) => Buffer.from(sealed).includes('SECRET'))).toBe(false)
    const exported = (await me.api<ConfigExport>('GET', '/export')).json()
    expect(exported.mcp_servers).toEqual([
      {
        name: 'home',
        url: all.server.url,
        header_name: null,
        auth: 'oauth',
        client_id: null,
        scopes: 'tools more',
        enabled: true,
      },
    ])
  })

  test('a way back is taken once, by the browser and the person that went', async () => {
    const me = await all.tenant()
    all.guard()
    const { id } = await me.add(all.server.url, { auth: 'oauth' })
    const { url, cookie } = await me.signIn(id)
    const place = all.issuer.consents(url)
    all.issuer.asked.length = 0
    expect(await me.back(place, '')).toBe('/app/tools?error=expired')
    expect(await me.back(place, `${cookie}x`)).toBe('/app/tools?error=expired')
    expect(await me.back(place, cookie, {})).toBe('/app/tools?error=expired')
    const other = await all.app.person('other-browser@example.com')
    expect(await me.back(place, cookie, other.headers)).toBe('/app/tools?error=expired')
    expect(all.issuer.paths()).toEqual([])
    expect(await me.back(place, cookie)).toBe(`/app/tools?signed_in=${id}`)
    expect(await me.back(place, cookie)).toBe('/app/tools?error=expired')
    expect(all.issuer.paths()).toEqual(['/token'])
  })

  test.each([
    [{ iss: 'https://evil.example' }, 'refused'],
    [{ iss: null }, 'refused'],
    [{ error: 'access_denied', code: null }, 'denied'],
    [{ error: 'server_error', code: null }, 'refused'],
  ] as const)('an answer with %j asks no token', async (more, word) => {
    const me = await all.tenant()
    all.guard()
    const { id } = await me.add(all.server.url, { auth: 'oauth' })
    const { url, cookie } = await me.signIn(id)
    const place = all.issuer.consents(url, more)
    all.issuer.asked.length = 0
    expect(await me.back(place, cookie)).toBe(`/app/tools?error=${word}`)
    expect(all.issuer.paths()).toEqual([])
    expect(await me.read(id)).toMatchObject({ state: 'sign_in', signed_in: false })
  })

  test('a way back is forgotten after ten minutes', async () => {
    const me = await all.tenant()
    all.guard()
    const { id } = await me.add(all.server.url, { auth: 'oauth' })
    const { url, cookie } = await me.signIn(id)
    all.clock.advance(600_001)
    expect(await me.back(all.issuer.consents(url), cookie)).toBe('/app/tools?error=expired')
  })

  test('a tenant has twenty ways under way, and loses its oldest beyond', async () => {
    const [me, other] = [await all.tenant(), await all.tenant()]
    all.guard()
    const { id } = await me.add(all.server.url, { auth: 'oauth' })
    const { id: others } = await other.add(all.server.url, { auth: 'oauth' })
    const alone = await other.signIn(others)
    const first = await me.signIn(id)
    const second = await me.signIn(id)
    for (let n = 0; n < 19; n++) await me.signIn(id)
    const back = (who: typeof me, { url, cookie }: typeof first) =>
      who.back(all.issuer.consents(url), cookie)
    expect(await back(me, first)).toBe('/app/tools?error=expired')
    expect(await back(me, second)).toBe(`/app/tools?signed_in=${id}`)
    expect(await back(other, alone)).toBe(`/app/tools?signed_in=${others}`)
  })

  test('a server that became another one meanwhile is not signed in at', async () => {
    const me = await all.tenant()
    all.guard()
    const { id } = await me.add(all.server.url, { auth: 'oauth' })
    const { url, cookie } = await me.signIn(id)
    const other = { name: 'home', url: `${all.server.url}/other`, auth: 'oauth' }
    await me.api('PUT', `/mcp-servers/${id}`, other)
    expect(await me.back(all.issuer.consents(url), cookie)).toBe('/app/tools?error=changed')
    expect(await me.read(id)).toMatchObject({ signed_in: false })
  })
})

describe('finding the authorization server', () => {
  const refused = async (code: string) => {
    const me = await all.tenant()
    const { id } = await me.add(all.server.url, { auth: 'oauth' })
    const answer = await me.console('POST', `/mcp-servers/${id}/sign-in`)
    expect([answer.status, answer.headers.get('x-error-code')]).toEqual([400, code])
  }

  test.each([
    ['another issuer', { issuer: 'https://evil.example' }],
    ['no S256', { code_challenge_methods_supported: ['plain'] }],
    ['no methods', { code_challenge_methods_supported: undefined }],
    ['no token endpoint', { token_endpoint: undefined }],
    ['a token endpoint in plain http', { token_endpoint: 'http://a.example.com/token' }],
    ['a private page', { authorization_endpoint: 'http://10.0.0.1/authorize' }],
    ['a long address', { registration_endpoint: `https://a.example/${'x'.repeat(2_000)}` }],
    ['a thousand methods', { token_endpoint_auth_methods_supported: Array(1_000).fill('none') }],
    ['a long method', { token_endpoint_auth_methods_supported: ['none', 'x'.repeat(1_000)] }],
    ['a script', { authorization_endpoint: 'javascript:alert(1)' }],
  ])('metadata with %s is not used', async (_, more) => {
    all.guard()
    all.issuer.says(more)
    await refused('mcp_no_oauth')
  })

  test.each([
    ['of another resource', { resource: 'https://other.example/mcp' }],
    ['of another path', { resource: 'http://127.0.0.1:1/other' }],
    ['that names a private address', { authorization_servers: ['http://10.0.0.1'] }],
    ['that names nothing', { authorization_servers: [] }],
  ])('a document %s is not used', async (_, document) => {
    all.guard(document)
    await refused('mcp_no_oauth')
  })

  test('scopes beyond what is kept are not asked for', async () => {
    const me = await all.tenant()
    all.guard({ scopes_supported: Array.from({ length: 500 }, (_, n) => `scope-${n}`) })
    const { id } = await me.add(all.server.url, { auth: 'oauth' })
    const { url } = await me.signIn(id)
    expect(new URL(url).searchParams.has('scope')).toBe(false)
  })

  test('an issuer registers no client of a long name', async () => {
    all.guard()
    all.issuer.fails(({ url }) =>
      url.endsWith('/register')
        ? Response.json({ client_id: 'x'.repeat(3_000) }, { status: 201 })
        : null,
    )
    await refused('mcp_client_needed')
  })

  test('redirects are not followed', async () => {
    all.guard()
    all.issuer.fails((request) =>
      request.url.includes('/.well-known/') && !request.url.endsWith('#moved')
        ? Response.redirect(`${all.issuer.url}/moved`, 302)
        : null,
    )
    await refused('mcp_no_oauth')
    expect(all.issuer.paths()).not.toContain('/moved')
  })

  test('an issuer that registers nobody needs a client', async () => {
    all.guard()
    all.issuer.says({ registration_endpoint: undefined })
    await refused('mcp_client_needed')
    all.issuer.reset()
    all.guard()
    all.issuer.fails(({ url }) =>
      url.endsWith('/register') ? new Response(null, { status: 403 }) : null,
    )
    await refused('mcp_client_needed')
  })

  test('without metadata of the resource, its own origin is asked', async () => {
    const me = await all.tenant()
    all.issuer.protects(all.server.url)
    const { origin } = new URL(all.server.url)
    all.server.fails((request) => {
      const { pathname } = new URL(request.url)
      if (pathname === '/.well-known/oauth-authorization-server') {
        return Response.json({
          issuer: origin,
          authorization_endpoint: `${all.issuer.url}/authorize`,
          token_endpoint: `${all.issuer.url}/token`,
          registration_endpoint: `${all.issuer.url}/register`,
          code_challenge_methods_supported: ['S256'],
        })
      }
      if (pathname.startsWith('/.well-known/')) return new Response(null, { status: 404 })
      const isIn = all.issuer.accepts(request.headers.get('authorization'))
      return isIn ? null : new Response(null, { status: 401 })
    })
    const { id } = await me.add(all.server.url, { auth: 'oauth' })
    const { url, cookie } = await me.signIn(id)
    const place = all.issuer.consents(url, { iss: origin })
    expect(await me.back(place, cookie)).toBe(`/app/tools?signed_in=${id}`)
  })

  test('a client that was given is used, with its secret', async () => {
    const me = await all.tenant()
    all.issuer.knows('mine', 'SECRET-of-the-client')
    const signed = await me.signed({ client_id: 'mine', client_secret: 'SECRET-of-the-client' })
    expect(signed).toMatchObject({ client_id: 'mine', client_secret_tail: 'ient' })
    expect(all.issuer.paths()).not.toContain('/register')
  })
})
