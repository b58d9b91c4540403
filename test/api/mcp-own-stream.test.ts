import { expect, test } from 'bun:test'
import { startApp } from '../support/app.ts'
import { askingTurn, untilEvent } from '../support/asks.ts'
import { mcpTenant } from '../support/mcp-tenant.ts'
import { startUpstream } from '../support/upstream.ts'

interface Message {
  readonly id?: number | string
  readonly method?: string
  readonly result?: unknown
}

const TOOL = { name: 'ask', inputSchema: { type: 'object', properties: {} } }
const ROOM = { type: 'object', properties: { room: { type: 'string' } } }
const question = { message: 'Which room?', requestedSchema: ROOM }

/** A server with sessions that asks the person on its own stream, as many SDKs do. */
function startServer() {
  const heard = { ids: [] as unknown[], answers: [] as unknown[], sessions: [] as string[] }
  let count = 0
  let stream: ReadableStreamDefaultController<string> | null = null
  let answered = Promise.withResolvers<void>()
  const live = new Set<string>()
  const reply = (id: unknown, result: object, session = 's') =>
    Response.json({ jsonrpc: '2.0', id, result }, { headers: { 'mcp-session-id': session } })

  function listen(): Response {
    const body = new ReadableStream<string>({
      start(controller) {
        stream = controller
        controller.enqueue(': open\n\n')
      },
    })
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  }

  async function answer({ id, method, result }: Message, session: string): Promise<Response> {
    heard.ids.push(method === undefined ? null : id)
    if (method === 'initialize') {
      const serverInfo = { name: 'own-stream', version: '1' }
      const agreed = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo }
      live.add(`s${++count}`)
      return reply(id, agreed, `s${count}`)
    }
    if (method !== 'server/discover' && !live.has(session)) {
      return new Response(null, { status: 404 })
    }
    if (method === 'tools/list') return reply(id, { tools: [TOOL] })
    if (method === 'tools/call') {
      const asked = { jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params: question }
      heard.sessions.push(session)
      answered = Promise.withResolvers<void>()
      stream?.enqueue(`data: ${JSON.stringify(asked)}\n\n`)
      await answered.promise
      return reply(id, { content: [{ type: 'text', text: 'the attic' }] })
    }
    if (method === undefined && id === 'q') {
      heard.answers.push(result)
      answered.resolve()
    }
    return new Response(null, { status: method === 'server/discover' ? 400 : 202 })
  }

  const server = Bun.serve({
    ...{ hostname: '127.0.0.1', port: 0, idleTimeout: 0 },
    fetch: async (request) => {
      if (request.method === 'GET') return listen()
      if (request.method !== 'POST') return new Response(null)
      return answer(await request.json(), request.headers.get('mcp-session-id') ?? '')
    },
  })
  return {
    heard,
    forget: () => live.clear(),
    url: `http://127.0.0.1:${server.port}/mcp`,
    stop: () => server.stop(true),
  }
}

test('a server may ask on a stream of its own, in a session of the conversation', async () => {
  const upstream = await startUpstream()
  const env = { MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' }
  await using app = await startApp({ upstream: upstream.baseUrl, env })
  const server = startServer()
  const me = await mcpTenant(app, upstream)
  await me.use(await me.add(server.url))
  const content = { room: 'attic' }

  async function turn(session: string) {
    upstream.reset()
    const more = { name: 'home__ask', session_id: session }
    const stream = await askingTurn({ app, upstream }, me.key.headers, more)
    const { data } = await untilEvent(stream, 'ask')
    expect(data).toMatchObject({ kind: 'question', message: 'Which room?', server: 'home' })
    await me.api('POST', `/agent/asks/${data.id}`, { action: 'accept', content })
    expect((await stream.all()).at(-1)?.event).toBe('llm_end')
  }

  for (const session of ['a', 'a', 'b']) await turn(session)
  const [first, second, other] = server.heard.sessions
  expect(second).toBe(first ?? '')
  expect(other).not.toBe(first ?? '')
  server.forget()
  await turn('a')
  expect(server.heard.sessions.at(-1)).not.toBe(first ?? '')
  expect(server.heard.answers).toEqual(Array(4).fill({ action: 'accept', content }))
  const ids = server.heard.ids.filter((id) => id !== null && id !== undefined)
  expect(new Set(ids).size).toBe(ids.length)
  server.stop()
  await upstream.stop()
}, 30_000)
