import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../support/app.ts'
import { askingTurn, untilEvent } from '../support/asks.ts'
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

const askOf = async (stream: SseStream, count = 1) =>
  (await untilEvent(stream, 'ask', count)).data as { id: string }
const told = () => String(upstream.requests.at(-1)?.body.messages.at(-1)?.content)

describe('a question of the model', () => {
  const ready = async (settings: object = { may_ask: true }) => {
    const me = await mcpTenant(app, upstream)
    await me.console('PUT', '/settings', settings)
    return me
  }
  const question = (me: McpTenant, args: object) =>
    askingTurn({ app, upstream }, me.key.headers, { name: 'ask_user', args })

  test('is answered in words, by options or as a form', async () => {
    const me = await ready()
    const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
    for (const [args, wrong, right] of [
      [{}, { answers: ['x'] }, { answer: '蓝色' }],
      [{ options: ['a', 'b'] }, { answer: 'c' }, { answer: 'b' }],
      [{ options: ['a', 'b'], multiple: true }, { answers: [] }, { answers: ['a', 'b'] }],
      [{ schema }, { n: 'x' }, { n: 3 }],
    ] as const) {
      const stream = await question(me, { question: '哪个？', ...args })
      const { id } = await askOf(stream)
      expect((await untilEvent(stream, 'ask')).data).toMatchObject({
        ...{ kind: 'question', server: null, tool: 'ask_user', message: '哪个？' },
      })
      const answer = (content: object) =>
        me.api('POST', `/agent/asks/${id}`, { action: 'accept', content })
      expect((await answer(wrong)).status).toBe(400)
      expect((await answer(right)).status).toBe(200)
      await stream.all()
      expect(JSON.parse(told())).toEqual(right)
    }
  })

  test('is offered in interactive turns alone, where app or tenant allow it', async () => {
    const me = await ready()
    const offered = async (more: object) => {
      upstream.reset()
      const body = { text: 'x', session_id: crypto.randomUUID(), ...more }
      await (
        await fetch(`${app.url}/v1/agent`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...me.key.headers },
          body: JSON.stringify(body),
        })
      ).text()
      return JSON.stringify(upstream.requests[0]?.body).includes('ask_user')
    }
    expect(await offered({ interactive: true })).toBe(true)
    expect(await offered({})).toBe(false)
    await me.console('PUT', '/settings', {})
    expect(await offered({ interactive: true })).toBe(false)
    const { id } = (
      await me.api<{ id: string }>('POST', '/apps', {
        name: 'a',
        may_ask: true,
        tools_enabled: ['calculator'],
      })
    ).json()
    expect((await me.api('GET', `/apps/${id}`)).json()).toMatchObject({ may_ask: true })
    const atConsole = async (appId: string) => {
      upstream.reset()
      const { headers } = await app.person(me.email)
      const stream = await fetch(`${app.url}/console/agent`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ text: 'x', app_id: appId, interactive: true }),
      })
      await stream.text()
      return JSON.stringify(upstream.requests[0]?.body).includes('ask_user')
    }
    expect(await atConsole(id)).toBe(true)
    await me.api('PUT', `/apps/${id}`, { name: 'a', may_ask: true, tools_enabled: [] })
    expect(await atConsole(id)).toBe(false)
  })
})
