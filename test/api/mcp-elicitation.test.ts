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

describe('a question of an MCP server', () => {
  const form = (requestedSchema: object, more: object = {}) => ({
    method: 'elicitation/create',
    params: { mode: 'form', message: 'Which room?', requestedSchema, ...more },
  })
  const ROOM = { type: 'object', properties: { room: { type: 'string' } }, required: ['room'] }
  type Params = { inputResponses?: Record<string, object>; requestState?: string; _meta: object }
  const seen: Params[] = []

  /** A server that asks this as long as `rounds` say, and then tells what it heard. */
  async function asks(request: unknown, rounds = 1): Promise<McpTenant> {
    const me = await mcpTenant(app, upstream)
    await me.use(await me.add(server.url))
    seen.length = 0
    server.fails((_, rpc) => {
      if (rpc?.method !== 'tools/call') return null
      const params = rpc.params as unknown as Params
      seen.push(params)
      const round = Number(params.requestState ?? 0)
      const result =
        round < rounds
          ? {
              resultType: 'input_required',
              inputRequests: { q: request },
              requestState: `${round + 1}`,
            }
          : { content: [{ type: 'text', text: JSON.stringify(params.inputResponses) }] }
      return Response.json({ jsonrpc: '2.0', id: rpc.id as number, result })
    })
    return me
  }
  const turn = (me: McpTenant, more: object = {}) =>
    askingTurn({ app, upstream }, me.key.headers, more)

  test('reaches the person, and their answer the server', async () => {
    const me = await asks(form(ROOM))
    const stream = await turn(me)
    const ask = await untilEvent(stream, 'ask')
    expect(ask.data).toMatchObject({
      ...{ kind: 'question', server: 'home', tool: 'echo', message: 'Which room?' },
      ...{ schema: ROOM, warning: null, arguments: null },
    })
    const answer = (body: object) => me.api('POST', `/agent/asks/${ask.data.id}`, body)
    const wrong = await answer({ action: 'accept', content: { room: 1 } })
    expect(wrong.status).toBe(400)
    // The limit of a call does not run while the person thinks.
    clock.advance(120_000)
    await answer({ action: 'accept', content: { room: 'attic' } })
    expect((await stream.all()).at(-1)?.event).toBe('llm_end')
    expect(seen[1]).toMatchObject({
      requestState: '1',
      inputResponses: { q: { action: 'accept', content: { room: 'attic' } } },
    })
    expect(JSON.stringify(seen[0]?._meta)).toContain('"elicitation":{"form":{},"url":{}}')
    expect(told()).toContain('attic')
  })

  test('hears that the person declined, and not that they canceled', async () => {
    const me = await asks(form(ROOM))
    const declining = await turn(me)
    const first = await askOf(declining)
    await me.api('POST', `/agent/asks/${first.id}`, { action: 'decline' })
    await declining.all()
    expect(seen.at(-1)?.inputResponses).toEqual({ q: { action: 'decline' } })
    const canceling = await turn(me)
    const second = await askOf(canceling)
    await me.api('POST', `/agent/asks/${second.id}`, { action: 'cancel' })
    expect((await canceling.all()).at(-1)?.data.code).toBe('ask_canceled')
    expect(seen).toHaveLength(3)
  })

  test('with a link shows its host, and one for secrets warns', async () => {
    const link = {
      method: 'elicitation/create',
      params: { mode: 'url', message: 'Pay', url: 'https://pay.example.com/a' },
    }
    const me = await asks(link)
    const stream = await turn(me)
    const ask = await untilEvent(stream, 'ask')
    expect(ask.data).toMatchObject({
      ...{ kind: 'link', url: 'https://pay.example.com/a', host: 'pay.example.com' },
    })
    await me.api('POST', `/agent/asks/${ask.data.id}`, { action: 'accept' })
    await stream.all()
    expect(seen.at(-1)?.inputResponses).toEqual({ q: { action: 'accept' } })
    const secret = { type: 'object', properties: { apiKey: { type: 'string' } } }
    const other = await asks(form(secret))
    const warned = await turn(other)
    const { data } = await untilEvent(warned, 'ask')
    expect(data.warning).toContain('密码')
    await other.api('POST', `/agent/asks/${data.id}`, { action: 'decline' })
    await warned.all()
  })

  const field = { type: 'string' }
  const fields = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, field]))
  test.each([
    [form({ type: 'object', properties: fields(21) })],
    [form({ type: 'object', properties: { a: { type: 'object', properties: {} } } })],
    [form(ROOM, { mode: 'voice' })],
    [form(ROOM, { mode: 'url', url: 'javascript:alert(1)' })],
    [{ method: 'sampling/createMessage', params: {} }],
    [{ method: 'roots/list', params: {} }],
    ['nonsense'],
  ])('that cannot be shown is an error result (%#)', async (request) => {
    const me = await asks(request)
    const events = await (await turn(me)).all()
    expect(events.map(({ event }) => event)).not.toContain('ask')
    expect(events.find(({ event }) => event === 'tool_result')?.data.ok).toBe(false)
    expect(events.at(-1)?.event).toBe('llm_end')
  })

  test('comes three times in a call, and not a fourth time', async () => {
    const me = await asks(form(ROOM), 4)
    const stream = await turn(me)
    for (let count = 1; count <= 3; count++) {
      const { id } = await askOf(stream, count)
      await me.api('POST', `/agent/asks/${id}`, { action: 'accept', content: { room: 'a' } })
    }
    const events = await stream.all()
    expect(events.filter(({ event }) => event === 'ask')).toHaveLength(3)
    expect(told()).toContain('asked too often')
  })

  test('is not asked for where nobody is', async () => {
    const me = await asks(form(ROOM))
    const events = await (await turn(me, { interactive: false })).all()
    expect(events.map(({ event }) => event)).not.toContain('ask')
    expect(JSON.stringify(seen[0]?._meta)).not.toContain('elicitation')
    expect(told()).toStartWith('Error: ')
  })

  test('of an earlier revision comes in a session of its own', async () => {
    using old = startMcpServer({ era: 'sessions' })
    const me = await mcpTenant(app, upstream)
    await me.use(await me.add(old.url))
    const initialized: string[] = []
    const heard = Promise.withResolvers<unknown>()
    const pass = new TransformStream<Uint8Array, Uint8Array>()
    const writer = pass.writable.getWriter()
    const send = (message: object) =>
      writer.write(
        new TextEncoder().encode(`data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`),
      )
    old.fails((_, rpc) => {
      if (rpc?.method === 'initialize') initialized.push(JSON.stringify(rpc.params))
      if (rpc && !rpc.method) {
        heard.resolve(rpc)
        return new Response(null, { status: 202 })
      }
      if (rpc?.method !== 'tools/call') return null
      send({ id: 'e1', ...form(ROOM) })
      heard.promise.then(() =>
        send({ id: rpc.id, result: { content: [{ type: 'text', text: 'done' }] } }),
      )
      return new Response(pass.readable, { headers: { 'content-type': 'text/event-stream' } })
    })
    const stream = await turn(me)
    const { id } = await askOf(stream)
    await me.api('POST', `/agent/asks/${id}`, { action: 'accept', content: { room: 'attic' } })
    expect(await heard.promise).toMatchObject({
      ...{ id: 'e1', result: { action: 'accept', content: { room: 'attic' } } },
    })
    await stream.all()
    expect(told()).toContain('done')
    expect(initialized.at(-1)).toContain('elicitation')
  })
})
