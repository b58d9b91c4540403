import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { ConfigExport } from '../../src/features/transfer/model.ts'
import { startSigning } from '../support/mcp-signing.ts'
import { startTokenIssuer } from '../support/token-issuer.ts'

let all: Awaited<ReturnType<typeof startSigning>>

beforeAll(async () => {
  all = await startSigning()
})
afterEach(() => all.reset())
afterAll(() => all.stop())

/** An origin to which no token may come. */
function trap() {
  const heard: string[] = []
  const server = Bun.serve({
    ...{ hostname: '127.0.0.1', port: 0 },
    fetch: async (request) => {
      const sent = [...request.headers].map((pair) => pair.join(': ')).join('\n')
      heard.push(`${request.url}\n${sent}\n${await request.text()}`)
      return Response.json({})
    },
  })
  return { heard, url: `http://127.0.0.1:${server.port}/mcp`, stop: () => server.stop(true) }
}

test.each([301, 302, 307, 308])(
  'a redirect (%i) of a server takes no token along',
  async (status) => {
    const me = await all.tenant()
    const signed = await me.signed()
    await me.use(signed)
    const other = trap()
    all.server.fails(() => new Response(null, { status, headers: { location: other.url } }))
    expect(await me.calls('home__echo')).toMatchObject({ ok: false })
    await me.api('POST', `/mcp-servers/${signed.id}/refresh`)
    expect(other.heard).toEqual([])
    other.stop()
  },
)

test('a redirect of the token endpoint takes no refresh token along', async () => {
  const me = await all.tenant()
  all.issuer.lasts(120)
  const { id } = await me.signed()
  const other = trap()
  all.issuer.fails(({ url }) =>
    url.endsWith('/token')
      ? new Response(null, { status: 307, headers: { location: other.url } })
      : null,
  )
  all.clock.advance(121_000)
  await me.api('POST', `/mcp-servers/${id}/refresh`)
  expect(other.heard).toEqual([])
  other.stop()
})

test('another address gets no token, nor has the old one when it comes back', async () => {
  const me = await all.tenant()
  const { id } = await me.signed()
  const other = trap()
  const body = { name: 'home', url: other.url, auth: 'oauth' }
  expect((await me.api('PUT', `/mcp-servers/${id}`, body)).status).toBe(200)
  await me.api('POST', `/mcp-servers/${id}/refresh`)
  expect(other.heard.join('\n')).not.toMatch(/authorization/i)
  await me.api('PUT', `/mcp-servers/${id}`, { ...body, url: all.server.url })
  expect(await me.read(id)).toMatchObject({ state: 'sign_in', signed_in: false })
  other.stop()
})

test('a person of another tenant begins no sign-in here, and ends none', async () => {
  const me = await all.tenant()
  all.guard()
  const { id } = await me.add(all.server.url, { auth: 'oauth' })
  const stranger = await all.tenant()
  expect((await stranger.console('POST', `/mcp-servers/${id}/sign-in`)).status).toBe(404)
  expect((await stranger.console('DELETE', `/mcp-servers/${id}/sign-in`)).status).toBe(404)
  const { url, cookie } = await me.signIn(id)
  expect(await stranger.back(all.issuer.consents(url), cookie)).toBe('/app/tools?error=expired')
  expect(await me.read(id)).toMatchObject({ signed_in: false })
})

test('a client secret goes to the issuer that it was first used with', async () => {
  const me = await all.tenant()
  using evil = startTokenIssuer()
  evil.protects(all.server.url)
  for (const issuer of [all.issuer, evil]) issuer.knows('mine', 'SECRET-that-is-mine')
  const client = { auth: 'oauth', client_id: 'mine' }
  const { id } = await me.signed({ ...client, client_secret: 'SECRET-that-is-mine' })
  all.guard({ authorization_servers: [evil.url] })
  const begin = () => me.console('POST', `/mcp-servers/${id}/sign-in`)
  const swapped = await begin()
  expect([swapped.status, swapped.headers.get('x-error-code')]).toEqual([400, 'mcp_issuer_changed'])
  await me.console('DELETE', `/mcp-servers/${id}/sign-in`)
  expect((await begin()).status).toBe(400)
  all.guard()
  expect((await begin()).status).toBe(200)
  // Whoever gives the secret again says yes to the issuer that is named now.
  all.guard({ authorization_servers: [evil.url] })
  const again = {
    name: 'home',
    url: all.server.url,
    ...client,
    client_secret: 'SECRET-that-is-mine',
  }
  expect((await me.api('PUT', `/mcp-servers/${id}`, again)).status).toBe(200)
  const both = await Promise.all([begin(), begin()])
  expect(both.map(({ status }) => status)).toEqual([200, 200])
  expect(await me.read(id)).toMatchObject({ client_secret_tail: 'mine' })
})

test('own credentials of a server go to no issuer that it names later', async () => {
  const me = await all.tenant()
  using evil = startTokenIssuer()
  evil.protects(all.server.url)
  for (const issuer of [all.issuer, evil]) issuer.knows('robot', 'SECRET-of-the-robot')
  all.guard()
  const own = { auth: 'client_credentials', client_id: 'robot' }
  const secret = { client_secret: 'SECRET-of-the-robot' }
  const { id, name, url, state } = await me.add(all.server.url, { ...own, ...secret })
  expect(state).toBe('ready')
  const asked = () => evil.asked.filter(({ path }) => path === '/token').length
  const either = (header: string | null) => all.issuer.accepts(header) || evil.accepts(header)
  all.guard({ authorization_servers: [evil.url] }, either)
  // Other scopes forget the token, so that the server is asked anew whose tokens it takes.
  const put = (more: object) => me.api('PUT', `/mcp-servers/${id}`, { name, url, ...own, ...more })
  expect((await put({ scopes: 'tools' })).status).toBe(200)
  expect(await me.read(id)).toMatchObject({ state: 'failed', error_class: 'refused' })
  expect(asked()).toBe(0)
  expect((await put({ scopes: 'tools', ...secret })).status).toBe(200)
  expect(await me.read(id)).toMatchObject({ state: 'ready' })
  expect(asked()).toBe(1)
})

test('two ways to the same issuer end apart, and the last one counts', async () => {
  const me = await all.tenant()
  all.guard()
  const { id } = await me.add(all.server.url, { auth: 'oauth' })
  const [first, second] = [await me.signIn(id), await me.signIn(id)]
  const mixed = await me.back(all.issuer.consents(first.url), second.cookie)
  expect(mixed).toBe('/app/tools?error=expired')
  const done = `/app/tools?signed_in=${id}`
  expect(await me.back(all.issuer.consents(second.url), second.cookie)).toBe(done)
  expect(await me.back(all.issuer.consents(first.url), first.cookie)).toBe(done)
  expect(await me.read(id)).toMatchObject({ state: 'ready', signed_in: true })
  const exported = (await me.api<ConfigExport>('GET', '/export')).text
  expect(exported).not.toContain('SECRET')
})

/** A private host that speaks no https; counts who tried. */
function listener(hostname: string) {
  let tries = 0
  const open = () => {
    tries += 1
  }
  const server = Bun.listen({
    ...{ hostname, port: 0 },
    socket: { open, data: (socket) => void socket.end() },
  })
  const stop = () => server.stop(true)
  return { url: `https://${hostname}:${server.port}`, tries: () => tries, stop }
}

test.each([
  ['127.0.0.2', false],
  ['127.0.0.1', true],
] as const)('https at the private host %s is asked: %p', async (host, isAllowed) => {
  const place = listener(host)
  const me = await all.tenant()
  all.guard({ authorization_servers: [place.url] })
  const { id } = await me.add(all.server.url, { auth: 'oauth' })
  const none = await me.console('POST', `/mcp-servers/${id}/sign-in`)
  expect([none.status, none.headers.get('x-error-code')]).toEqual([400, 'mcp_no_oauth'])
  expect(place.tries() > 0).toBe(isAllowed)
  const before = place.tries()
  all.guard()
  for (const endpoint of ['registration_endpoint', 'token_endpoint', 'revocation_endpoint']) {
    all.issuer.says({ [endpoint]: place.url })
    const begun = await me.console('POST', `/mcp-servers/${id}/sign-in`)
    if (endpoint === 'registration_endpoint') {
      expect(begun.headers.get('x-error-code')).toBe('mcp_client_needed')
      continue
    }
    const { url, cookie } = await me.signIn(id)
    const back = await me.back(all.issuer.consents(url), cookie)
    const isDone = endpoint === 'revocation_endpoint'
    expect(back).toBe(`/app/tools?${isDone ? `signed_in=${id}` : 'error=unavailable'}`)
  }
  expect((await me.console('DELETE', `/mcp-servers/${id}/sign-in`)).status).toBe(200)
  expect(place.tries() - before).toBe(isAllowed ? 3 : 0)
  place.stop()
})
