import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { MINUTE_MS } from '../../src/core/clock.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { askingTurn } from '../support/asks.ts'
import { fakeClock } from '../support/clock.ts'
import { startMcpServer } from '../support/mcp-server.ts'
import { type McpTenant, mcpTenant } from '../support/mcp-tenant.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const HALF_HOUR_MS = 30 * MINUTE_MS
const moved = fakeClock({ timers: 'moved' })
/** The wait of half an hour is the clock's own, so that a test may let it pass. */
const clock = {
  ...moved,
  every: (ms: number, task: () => void) =>
    (ms === HALF_HOUR_MS ? moved.after : moved.every)(ms, task),
}
const server = startMcpServer({ era: 'sessions' })
let upstream: Upstream
let app: TestApp
let me: McpTenant

beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({
    ...{ upstream: upstream.baseUrl, clock },
    env: { MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' },
  })
  me = await mcpTenant(app, upstream)
  await me.use(await me.add(server.url))
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

const turn = async (more: object) => {
  upstream.reset()
  await (await askingTurn({ app, upstream }, me.key.headers, more)).all()
}
const sessionsOf = (method: string) =>
  server.received
    .filter((one) => (one.rpc?.method ?? one.method) === method)
    .map(({ headers }) => headers.get('mcp-session-id'))
const called = () => sessionsOf('tools/call')

test('a session ends half an hour after the last call of its conversation', async () => {
  await turn({ session_id: 'a' })
  clock.advance(HALF_HOUR_MS - MINUTE_MS)
  await turn({ session_id: 'a' })
  clock.advance(HALF_HOUR_MS - MINUTE_MS)
  const [first, second] = called()
  expect(second).toBe(first ?? '')
  expect(sessionsOf('DELETE')).toEqual([])
  const ended = server.asked('DELETE')
  clock.advance(MINUTE_MS)
  await ended
  expect(sessionsOf('DELETE')).toEqual([first ?? ''])
  await turn({ session_id: 'a' })
  expect(called().at(-1)).not.toBe(first ?? '')
})

test('calls at the same time have a session each, and one is kept', async () => {
  const both = Promise.withResolvers<void>()
  server.fails((_, rpc) => {
    if (rpc?.method !== 'tools/call') return null
    if (called().length === 2) both.resolve()
    return both.promise.then(() => {
      const result = { content: [{ type: 'text', text: 'ok' }] }
      return Response.json({ jsonrpc: '2.0', id: rpc.id ?? 0, result })
    })
  })
  const ended = server.asked('DELETE')
  await turn({ session_id: 'b', times: 2 })
  await ended
  const [first, second] = called()
  expect(second).not.toBe(first ?? '')
  const [gone] = sessionsOf('DELETE')
  await turn({ session_id: 'b' })
  expect(called().at(-1)).toBe((gone === first ? second : first) ?? '')
})

test('a turn without a person shares none of them, and names nobody to ask', async () => {
  await turn({ session_id: 'c' })
  const [own] = called()
  await turn({ session_id: 'c', interactive: false })
  expect(called().at(-1)).not.toBe(own ?? '')
  const asking = server.received
    .filter(({ rpc }) => rpc?.method === 'initialize')
    .map(({ rpc }) => JSON.stringify(rpc?.params).includes('elicitation'))
  expect(asking[0]).toBe(true)
  expect(asking.slice(1)).not.toContain(true)
})

test('beyond fifty idle ones a tenant loses its longest idle, and none in use', async () => {
  const [many, other] = [await mcpTenant(app, upstream), await mcpTenant(app, upstream)]
  for (const one of [many, other]) await one.use(await one.add(server.url))
  const ask = async (who: McpTenant, session_id: string) => {
    upstream.reset()
    await (await askingTurn({ app, upstream }, who.key.headers, { session_id })).all()
    return called().at(-1)
  }
  const others = await ask(other, 'theirs')
  const held = Promise.withResolvers<Response>()
  const begun = server.asked('tools/call')
  server.fails((_, rpc) => (rpc?.method === 'tools/call' ? held.promise : null))
  upstream.reset()
  const running = await askingTurn({ app, upstream }, many.key.headers, { session_id: 'running' })
  await begun
  const busy = called().at(-1)
  server.fails(() => null)
  const idle: unknown[] = []
  for (let n = 0; n < 51; n++) {
    const ended = n === 50 ? server.asked('DELETE') : null
    idle.push(await ask(many, `many ${n}`))
    await ended
  }
  expect(sessionsOf('DELETE')).toEqual([idle[0] as string])
  expect(await ask(many, 'many 1')).toBe(idle[1] as string)
  expect(await ask(other, 'theirs')).toBe(others as string)
  held.resolve(Response.json({ jsonrpc: '2.0', id: 1, error: { code: 1, message: 'x' } }))
  await running.all()
  expect(await ask(many, 'running')).toBe(busy as string)
})
