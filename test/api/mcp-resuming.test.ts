import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { McpCallResponse, McpServer } from '../../src/features/mcp-servers/model.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { mcpTenant } from '../support/mcp-tenant.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp
beforeAll(async () => {
  upstream = await startUpstream()
  const env = { MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' }
  app = await startApp({ upstream: upstream.baseUrl, env })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

const stream = (text: string) =>
  new Response(text, { headers: { 'content-type': 'text/event-stream' } })
const rpc = (id: unknown, result: object) => JSON.stringify({ jsonrpc: '2.0', id, result })
const json = (id: unknown, result: object) =>
  new Response(rpc(id, result), { headers: { 'content-type': 'application/json' } })

/** A server that closes the stream of a call, and answers each GET as `next` says. */
function pollingServer(next: (id: unknown, times: number) => Response) {
  const resumed: (readonly [string | null, string | null])[] = []
  let call: unknown = null
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      if (request.method === 'GET') {
        const { headers } = request
        resumed.push([headers.get('last-event-id'), headers.get('mcp-session-id')])
        return next(call, resumed.length)
      }
      const { id, method } = (await request.json()) as { id?: unknown; method: string }
      const tools = [{ name: 'long', description: 'x', inputSchema: { type: 'object' } }]
      if (method === 'initialize') {
        const answer = json(id, { protocolVersion: '2025-11-25', capabilities: {} })
        answer.headers.set('mcp-session-id', 'one')
        return answer
      }
      if (method === 'tools/list') return json(id, { tools })
      if (method !== 'tools/call') return new Response(null, { status: 202 })
      call = id
      return stream('id: e1\nretry: 1\ndata:\n\n')
    },
  })
  const url = `http://127.0.0.1:${server.port}/mcp`
  return { url, resumed, [Symbol.dispose]: () => void server.stop(true) }
}

async function tryTool(url: string): Promise<McpCallResponse> {
  const { add, console } = await mcpTenant(app, upstream)
  const { id } = await add(url)
  const body = { tool: 'long', arguments: {} }
  return (await console<McpCallResponse>('POST', `/mcp-servers/${id}/call`, body)).json()
}

const CONTENT = { content: [{ type: 'text', text: 'done' }] }

describe('a server that closes the stream of a call', () => {
  test('the client comes back for the answer, as often as it must', async () => {
    using server = pollingServer((id, times) => {
      if (times === 1) return stream('id: e2\ndata:\n\n')
      if (times === 2) return stream(': nothing yet\n\n')
      return stream(`id: e3\ndata: ${rpc(id, CONTENT)}\n\n`)
    })
    expect(await tryTool(server.url)).toMatchObject({ ok: true, text: 'done', error_class: null })
    expect(server.resumed).toEqual([
      ['e1', 'one'],
      ['e2', 'one'],
      ['e2', 'one'],
    ])
  })

  test.each([
    ['that does not continue it', new Response(null, { status: 405 }), 'malformed'],
    ['that refuses to continue it', new Response(null, { status: 401 }), 'refused'],
    ['whose id fits into no header', stream('id: 界\ndata:\n\n'), 'malformed'],
  ])('a server %s has given no answer', async (_, response, error_class) => {
    using server = pollingServer(() => response)
    expect(await tryTool(server.url)).toMatchObject({ ok: false, error_class })
    expect(server.resumed).toEqual([['e1', 'one']])
  })
})

test('a server that speaks the replaced HTTP+SSE alone is told from others', async () => {
  using server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch({ method }) {
      if (method !== 'GET') return new Response('Method Not Allowed', { status: 405 })
      return stream('event: endpoint\ndata: /messages?session=1\n\n')
    },
  })
  const { add, api } = await mcpTenant(app, upstream)
  const url = `http://127.0.0.1:${server.port}/sse`
  const made = await add(url)
  expect(made).toMatchObject({ state: 'failed', error_class: 'outdated' })
  const answer = await api<McpServer>('POST', `/mcp-servers/${made.id}/refresh`)
  expect([answer.status, answer.headers.get('x-error-code')]).toEqual([400, 'mcp_outdated'])
  expect(answer.text).toContain('Streamable HTTP')
})
