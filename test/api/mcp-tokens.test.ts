import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { McpServer } from '../../src/features/mcp-servers/model.ts'
import { startSigning } from '../support/mcp-signing.ts'
import { startSink } from '../support/webhooks.ts'

let all: Awaited<ReturnType<typeof startSigning>>

beforeAll(async () => {
  all = await startSigning()
})
afterEach(() => all.reset())
afterAll(() => all.stop())

const tokens = () =>
  all.server.received.map(({ headers }) => headers.get('authorization')).filter(Boolean)

describe('tokens of an MCP server', () => {
  test('they are refreshed before they end, once for requests at the same time', async () => {
    const me = await all.tenant()
    all.issuer.lasts(120)
    const { id } = await me.signed()
    all.clock.advance(61_000)
    all.issuer.asked.length = 0
    const listed = await Promise.all(
      [1, 2, 3].map(() => me.api('POST', `/mcp-servers/${id}/refresh`)),
    )
    expect(listed.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(all.issuer.paths()).toEqual(['/token'])
    expect(all.issuer.asked[0]?.form.get('resource')).toBe(all.server.url)
  })

  test('a token that is not accepted is refreshed once', async () => {
    const me = await all.tenant()
    const { id } = await me.signed()
    all.issuer.forgetTokens()
    all.issuer.asked.length = 0
    expect((await me.api('POST', `/mcp-servers/${id}/refresh`)).status).toBe(200)
    expect(all.issuer.paths()).toEqual(['/token'])
  })

  test('a refused refresh asks a person to sign in, and its tools are not offered', async () => {
    const me = await all.tenant()
    using sink = startSink()
    const hook = { name: 'n', url: sink.url, events: ['mcp.sign_in_needed'] }
    expect((await me.console('POST', '/webhooks', hook)).status).toBe(201)
    const { id } = await me.use(await me.signed())
    expect(await me.offered()).toContain('home__echo')
    all.issuer.forgetTokens()
    all.issuer.forgetRefreshes()
    expect(await me.calls('home__echo')).toMatchObject({ ok: false })
    const [listed] = (await me.api<{ servers: McpServer[] }>('GET', '/mcp-servers')).json().servers
    expect(listed).toMatchObject({ state: 'sign_in', signed_in: false, signed_in_by: null })
    expect(await me.offered()).not.toContain('home__echo')
    await me.api('POST', `/mcp-servers/${id}/refresh`)
    await all.app.jobs.idle()
    expect(sink.received.map(({ body }) => JSON.parse(body))).toMatchObject([
      { type: 'mcp.sign_in_needed', data: { server_id: id, name: 'home', count: null } },
    ])
  })

  test('a fault of the issuer signs nobody out', async () => {
    const me = await all.tenant()
    all.issuer.lasts(120)
    const { id } = await me.signed()
    all.issuer.fails(({ url }) =>
      url.endsWith('/token') ? new Response(null, { status: 503 }) : null,
    )
    all.clock.advance(61_000)
    expect((await me.api('POST', `/mcp-servers/${id}/refresh`)).status).toBe(200)
    all.clock.advance(60_000)
    expect((await me.api('POST', `/mcp-servers/${id}/refresh`)).status).toBe(400)
    expect(await me.read(id)).toMatchObject({ state: 'failed', signed_in: true })
    all.issuer.fails(() => null)
    expect((await me.api('POST', `/mcp-servers/${id}/refresh`)).status).toBe(200)
    expect(await me.read(id)).toMatchObject({ state: 'ready', signed_in: true })
  })

  test('signing out withdraws the tokens and forgets them', async () => {
    const me = await all.tenant()
    const { id } = await me.signed()
    all.issuer.asked.length = 0
    const answer = await me.console('DELETE', `/mcp-servers/${id}/sign-in`)
    expect(answer.json()).toEqual({ id, deleted: true })
    expect(all.issuer.paths()).toEqual(['/revoke'])
    expect(await me.read(id)).toMatchObject({ state: 'sign_in', signed_in: false })
  })

  test('another address or way forgets tokens, another name keeps them', async () => {
    const me = await all.tenant()
    const { id } = await me.signed()
    const put = async (more: object) => {
      const body = { name: 'home', url: all.server.url, auth: 'oauth', ...more }
      return (await me.api<McpServer>('PUT', `/mcp-servers/${id}`, body)).json()
    }
    expect(await put({ name: 'house' })).toMatchObject({ signed_in: true, state: 'ready' })
    all.server.received.length = 0
    expect(await put({ url: `${all.server.url}?other` })).toMatchObject({ signed_in: false })
    expect(tokens()).toEqual([])
    expect(await put({})).toMatchObject({ signed_in: false, state: 'sign_in' })
  })

  test('a server with its own credentials needs no person', async () => {
    const me = await all.tenant()
    all.guard()
    all.issuer.knows('robot', 'SECRET-of-the-robot')
    const robot = { auth: 'client_credentials', client_id: 'robot' }
    const made = await me.add(all.server.url, { ...robot, client_secret: 'SECRET-of-the-robot' })
    expect(made).toMatchObject({ state: 'ready', signed_in: false, client_secret_tail: 'obot' })
    const wrong = await me.add(all.server.url, { ...robot, name: 'b', client_secret: 'SECRET-no' })
    expect(wrong).toMatchObject({ state: 'failed', error_class: 'refused' })
    for (const more of [robot, { auth: 'client_credentials', client_secret: 'a' }]) {
      const body = { name: 'c', url: all.server.url, ...more }
      expect((await me.api('POST', '/mcp-servers', body)).status).toBe(400)
    }
    all.issuer.forgetTokens()
    expect((await me.api('POST', `/mcp-servers/${made.id}/refresh`)).status).toBe(200)
  })
})
