import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { caller } from '../support/api.ts'
import { ask, greetedBoard } from '../support/board.ts'
import { deviceClient } from '../support/devices.ts'
import { type McpStandIn, startMcpServer } from '../support/mcp-server.ts'
import { HOME, useWyoming } from '../support/wyoming-app.ts'

const TRIES = 12
const at = useWyoming({ MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1', MB_TRUST_PROXY: '1' })
let server: McpStandIn

beforeAll(async () => {
  server = startMcpServer()
  const console = caller(`${at.app.url}/console`, (await at.app.person(HOME)).headers)
  const made = { name: 'home', url: server.url }
  const { id } = (await console<{ id: string }>('POST', '/mcp-servers', made)).json()
  const tools = { approved: ['echo'], ask: ['echo'] }
  expect((await console('PUT', `/mcp-servers/${id}/tools`, tools)).status).toBe(200)
  await console('PUT', '/settings', { mcp_tools: ['home__*'], may_ask: true })
})
afterEach(() => {
  server.received.length = 0
})
afterAll(() => server[Symbol.dispose]())

/** Scripts a model that calls the tool; resolves with what it is told of that. */
async function told(turn: () => Promise<unknown>): Promise<unknown> {
  at.upstream.reset()
  at.upstream.reply({ toolCalls: [{ name: 'home__echo', arguments: '{"text":"hi"}' }] })
  await turn()
  const asked = at.upstream.requests.filter(({ path }) => path === '/chat/completions')
  expect(JSON.stringify(asked[0]?.body)).not.toContain('ask_user')
  const last = asked.map(({ body }) => body.messages.at(-1))
  return last.find((message) => message?.role === 'tool')?.content
}

const REFUSED = "Error: needs a person's approval"

test('a tool that asks is never called by Home Assistant', async () => {
  for (let n = 0; n < TRIES; n++) {
    const context = { conversation_id: `c${n % 2}` }
    expect(await told(() => at.say('开灯', context))).toBe(REFUSED)
  }
  expect(server.methods()).not.toContain('tools/call')
}, 60_000)

test('a tool that asks is never called by a board', async () => {
  const { socket } = await greetedBoard(at.app, deviceClient(at.app, at.key))
  for (let n = 0; n < TRIES; n++) {
    const turn = async () => {
      ask(socket, '开灯')
      await socket.next('tts', 'stop')
    }
    expect(await told(turn)).toBe(REFUSED)
  }
  expect(server.methods()).not.toContain('tools/call')
  socket.close()
}, 120_000)
