import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { McpServer } from '../../src/features/mcp-servers/model.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { askingTurn, untilEvent, useAsking } from '../support/asks.ts'
import { fakeClock } from '../support/clock.ts'
import { type McpStandIn, startMcpServer } from '../support/mcp-server.ts'
import { type McpTenant, mcpTenant } from '../support/mcp-tenant.ts'
import type { SseStream } from '../support/sse.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const clock = fakeClock({ timers: 'moved' })
let upstream: Upstream
let app: TestApp
let server: McpStandIn

beforeAll(async () => {
  upstream = await startUpstream()
  server = startMcpServer()
  const env = { MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1', MB_METRICS_TOKEN: 'metrics-token-0123456789' }
  app = await startApp({ upstream: upstream.baseUrl, clock, env })
})
afterEach(() => {
  server.reset()
  upstream.reset()
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
  server[Symbol.dispose]()
})

/** A tenant with a tool that asks. */
async function asking(): Promise<McpTenant & { readonly server: McpServer }> {
  const me = await mcpTenant(app, upstream)
  return { ...me, server: await useAsking(me, await me.add(server.url)) }
}
const begin = (me: McpTenant, more: object = {}) =>
  askingTurn({ app, upstream }, me.key.headers, more)
const askOf = async (stream: SseStream, count = 1) =>
  (await untilEvent(stream, 'ask', count)).data as { id: string; expires_at: string }
const calls = () => server.methods().filter((method) => method === 'tools/call').length
const told = () => String(upstream.requests.at(-1)?.body.messages.at(-1)?.content)

describe('a tool that asks', () => {
  test('waits for its person, and is called with what they allow', async () => {
    const me = await asking()
    expect(me.server.tools).toMatchObject([{ name: 'echo', ask: true, state: 'approved' }])
    const stream = await begin(me)
    const ask = await untilEvent(stream, 'ask')
    expect(ask.data).toEqual({
      ...{ type: 'ask', id: expect.any(String), kind: 'approval', server: 'home', tool: 'echo' },
      ...{ title: null, message: null, arguments: { text: 'hi' } },
      schema: { type: 'object', properties: { text: { type: 'string' } } },
      ...{ options: null, url: null, host: null, warning: null },
      expires_at: new Date(clock.now() + 300_000).toISOString(),
    })
    expect(calls()).toBe(0)
    const { id } = ask.data as { id: string }
    const path = `/agent/asks/${id}`
    for (const wrong of [
      { action: 'maybe' },
      { action: 'accept', remember: 'ever' },
      { action: 'accept', content: { arguments: { text: 1 } } },
      { action: 'accept', content: { arguments: 'x' } },
      {},
    ]) {
      expect((await me.api('POST', path, wrong)).status).toBe(400)
    }
    const content = { arguments: { text: 'edited' } }
    const answer = await me.api('POST', path, { action: 'accept', content })
    expect([answer.status, answer.json()]).toEqual([200, { id }])
    const again = await me.api('POST', path, { action: 'accept' })
    expect([again.status, again.headers.get('x-error-code')]).toEqual([410, 'ask_answered'])
    const events = await stream.all()
    expect(events.map(({ event }) => event)).toEqual([
      ...['tool_call', 'ask', 'ask_done', 'tool_result', 'llm_delta', 'stats', 'llm_end'],
    ])
    expect(events[2]?.data).toEqual({ type: 'ask_done', id, action: 'accept' })
    expect(events[3]?.data).toMatchObject({ ok: true })
    expect(told()).toContain('edited')
    expect(calls()).toBe(1)
  })

  test('that is declined is not called, and the model goes on', async () => {
    const me = await asking()
    const stream = await begin(me)
    const { id } = await askOf(stream)
    await me.api('POST', `/agent/asks/${id}`, { action: 'decline' })
    expect((await stream.all()).at(-1)?.event).toBe('llm_end')
    expect(told()).toContain('declined by the person')
    expect(calls()).toBe(0)
  })

  test('a cancel ends the turn, and stores nothing', async () => {
    const me = await asking()
    const stream = await begin(me, { session_id: 'c', times: 2 })
    const { id } = await askOf(stream)
    const other = await askOf(stream, 2)
    await me.api('POST', `/agent/asks/${id}`, { action: 'cancel' })
    const events = await stream.all()
    expect(events.filter(({ event }) => event === 'ask_done').map(({ data }) => data)).toEqual(
      expect.arrayContaining([
        { type: 'ask_done', id, action: 'cancel' },
        { type: 'ask_done', id: other.id, action: 'cancel' },
      ]),
    )
    expect(events.at(-1)).toMatchObject({ event: 'error', data: { code: 'ask_canceled' } })
    expect((await me.api('POST', `/agent/asks/${other.id}`, { action: 'accept' })).status).toBe(404)
    expect((await me.api('GET', '/sessions/c')).text).not.toContain('user_text')
    expect(calls()).toBe(0)
  })

  test('without an answer in time it counts as declined', async () => {
    const me = await asking()
    const stream = await begin(me)
    const { id } = await askOf(stream)
    clock.advance(300_001)
    const events = await stream.all()
    expect(events.find(({ event }) => event === 'ask_done')?.data.action).toBe('decline')
    expect(events.at(-1)?.event).toBe('llm_end')
    expect((await me.api('POST', `/agent/asks/${id}`, { action: 'accept' })).status).toBe(404)
    expect(calls()).toBe(0)
  })

  test('the answer of another tenant, key or person is none', async () => {
    const me = await asking()
    const stranger = await mcpTenant(app, upstream)
    const { id: appId } = (await me.api<{ id: string }>('POST', '/apps', { name: 'a' })).json()
    const { key } = (await me.api<{ key: string }>('POST', `/apps/${appId}/keys`, {})).json()
    const stream = await begin(me)
    const { id } = await askOf(stream)
    const yes = { action: 'accept' }
    expect((await stranger.api('POST', `/agent/asks/${id}`, yes)).status).toBe(404)
    expect((await me.console('POST', `/agent/asks/${id}`, yes)).status).toBe(404)
    const byApp = await fetch(`${app.url}/v1/agent/asks/${id}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(yes),
    })
    expect(byApp.status).toBe(404)
    expect((await me.api('POST', '/agent/asks/none', yes)).status).toBe(404)
    expect(calls()).toBe(0)
    await me.api('POST', `/agent/asks/${id}`, { action: 'decline' })
    await stream.all()
  })

  test('asks no more in a session where the person says so, until it changes', async () => {
    const me = await asking()
    const first = await begin(me, { session_id: 's' })
    const { id } = await askOf(first)
    await me.api('POST', `/agent/asks/${id}`, { action: 'accept', remember: 'session' })
    await first.all()
    const types = async (more: object) =>
      (await (await begin(me, more)).all()).map(({ event }) => event)
    expect(await types({ session_id: 's' })).not.toContain('ask')
    expect(calls()).toBe(2)
    await types({ session_id: 's', interactive: false })
    expect([calls(), told()]).toEqual([2, "Error: needs a person's approval"])
    const other = await begin(me, { session_id: 'other' })
    const asked = await askOf(other)
    await me.api('POST', `/agent/asks/${asked.id}`, { action: 'decline' })
    await other.all()
    server.lists([{ name: 'echo', description: 'Changed.', inputSchema: { type: 'object' } }])
    await me.api('POST', `/mcp-servers/${me.server.id}/refresh`)
    const approved = await me.api('PUT', `/mcp-servers/${me.server.id}/tools`, {
      approved: ['echo'],
    })
    expect(approved.json()).toMatchObject({ tools: [{ ask: true }] })
    const changed = await begin(me, { session_id: 's' })
    await me.api('POST', `/agent/asks/${(await askOf(changed)).id}`, { action: 'decline' })
    await changed.all()
    expect(calls()).toBe(2)
  })

  test('four are open at once, and the eleventh of a turn is refused', async () => {
    const me = await asking()
    const stream = await begin(me, { times: 11 })
    for (let count = 1; count <= 10; count++) {
      const { id } = await askOf(stream, count)
      const open = stream.events.filter(({ event }) => event === 'ask').length
      expect(open).toBeLessThan(count + 4)
      await me.api('POST', `/agent/asks/${id}`, { action: 'accept' })
    }
    const results = (await stream.all()).filter(({ event }) => event === 'tool_result')
    expect(results.map(({ data }) => data.ok)).toEqual([...Array(10).fill(true), false])
    expect(told()).toContain("needs a person's approval")
    expect(calls()).toBe(10)
  })

  test('a tool that was forbidden while the person thought is not called', async () => {
    const me = await asking()
    const stream = await begin(me)
    const { id } = await askOf(stream)
    await me.api('PUT', `/mcp-servers/${me.server.id}/tools`, { approved: [] })
    await me.api('POST', `/agent/asks/${id}`, { action: 'accept' })
    await stream.all()
    expect([calls(), told()]).toEqual([0, 'Error: the tool is no longer allowed'])
  })

  test('a client that leaves takes its ask with it', async () => {
    const me = await asking()
    const stream = await begin(me)
    const { id } = await askOf(stream)
    // Nobody reads it any more.
    const end = stream.all().catch(() => {})
    stream.abort()
    await end
    const left = { sql: 'SELECT id FROM open_ask WHERE id = ?', args: [id] }
    while ((await app.db.all(left)).length > 0) await pause(5)
    expect((await me.api('POST', `/agent/asks/${id}`, { action: 'accept' })).status).toBe(404)
    expect(calls()).toBe(0)
  })

  test('of a person at the console is answered by them alone, and is in the details', async () => {
    const me = await asking()
    const { headers } = await app.person(me.email)
    const stream = await askingTurn({ app, upstream }, headers, {
      ...{ path: '/console/agent', session_id: 'p' },
    })
    const { id } = await askOf(stream)
    expect((await me.api('POST', `/agent/asks/${id}`, { action: 'accept' })).status).toBe(404)
    expect((await me.console('POST', `/agent/asks/${id}`, { action: 'accept' })).status).toBe(200)
    await stream.all()
    const page = await me.console<{ turns: { details: object }[] }>('GET', '/sessions/p/transcript')
    expect(page.json().turns[0]?.details).toMatchObject({
      asks: [{ tool: 'echo', action: 'accept', ms: expect.any(Number) }],
      tools: [{ name: 'home__echo', ok: true }],
    })
    const audit = (await me.console<{ entries: { action: string }[] }>('GET', '/audit')).json()
    expect(audit.entries.find(({ action }) => action === 'ask.answer')).toMatchObject({
      target: id,
      target_name: 'home/echo accept',
    })
    expect(JSON.stringify(audit)).not.toContain('"hi"')
    const refused = await askingTurn({ app, upstream }, headers, {
      ...{ path: '/console/agent', session_id: 'q', interactive: false },
    })
    await refused.all()
    const second = await me.console<{ turns: { details: object }[] }>(
      'GET',
      '/sessions/q/transcript',
    )
    expect(second.json().turns[0]?.details).toMatchObject({
      tools: [{ name: 'home__echo', ok: false, needs_approval: true }],
    })
    const machine = await me.api<{ turns: { details: object }[] }>('GET', '/sessions/q/transcript')
    expect(machine.json().turns[0]?.details).toMatchObject({
      tools: [{ name: 'home__echo', ok: false, needs_approval: true }],
    })
    const third = { path: '/console/agent', session_id: 'r' }
    const denied = await askingTurn({ app, upstream }, headers, third)
    await me.console('POST', `/agent/asks/${(await askOf(denied)).id}`, { action: 'decline' })
    await denied.all()
    const last = await me.console<{ turns: { details: object }[] }>('GET', '/sessions/r/transcript')
    expect(last.json().turns[0]?.details).toMatchObject({
      asks: [{ tool: 'echo', action: 'decline' }],
      tools: [{ name: 'home__echo', ok: false, declined: true }],
    })
    const metrics = await fetch(`${app.url}/metrics`, {
      headers: { authorization: 'Bearer metrics-token-0123456789' },
    })
    expect(await metrics.text()).toMatch(/moonbase_asks_total\{action="accept"\} \d/)
  })

  test('which tools ask is kept when it is not said, and is a list of words', async () => {
    const me = await asking()
    const path = `/mcp-servers/${me.server.id}/tools`
    const put = (body: object) => me.api<McpServer>('PUT', path, body)
    expect((await put({ approved: ['echo'] })).json().tools[0]?.ask).toBe(true)
    expect((await put({ approved: ['echo'], ask: ['none'] })).json().tools[0]?.ask).toBe(false)
    for (const ask of ['echo', [1], { echo: true }]) {
      expect((await put({ approved: ['echo'], ask })).status).toBe(400)
    }
    const wrong = await me.api('POST', '/agent', { text: 'x', interactive: 'yes' })
    expect(wrong.status).toBe(400)
  })
})
