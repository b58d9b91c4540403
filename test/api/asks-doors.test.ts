import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { useAsking } from '../support/asks.ts'
import { quietClock } from '../support/clock.ts'
import { autoClient } from '../support/mcp-clients.ts'
import { type McpStandIn, startMcpServer } from '../support/mcp-server.ts'
import { mcpTenant } from '../support/mcp-tenant.ts'
import { tone, wav } from '../support/recordings.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const TRIES = 126
let upstream: Upstream
let server: McpStandIn
let app: TestApp
let key: TestKey
let token: string
let appId: string
let hook = ''

beforeAll(async () => {
  upstream = await startUpstream()
  server = startMcpServer()
  const { baseUrl } = upstream
  const speech = { MB_TTS_BASE_URL: baseUrl, MB_ASR_BASE_URL: baseUrl, MB_ASR_API_KEY: 'sk-asr' }
  const env = { MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1', MB_TRUST_PROXY: '1', ...speech }
  app = await startApp({ upstream: baseUrl, clock: quietClock(), env })
  const me = await mcpTenant(app, upstream)
  key = me.key
  await useAsking(me, await me.add(server.url))
  const body = { name: 'a', tools_enabled: ['home__*'] }
  const { id } = (await me.console<{ id: string }>('POST', '/apps', body)).json()
  appId = id
  const share = await me.console<{ token: string }>('POST', `/apps/${id}/shares`, {
    name: 's',
    daily_turns: 1_000,
  })
  token = share.json().token
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
  server[Symbol.dispose]()
})

const post =
  (path: string, body: (n: number) => object, headers: Record<string, string> = {}) =>
  async (n: number): Promise<void> => {
    const response = await fetch(`${app.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...key.headers, ...headers },
      body: JSON.stringify({ interactive: true, ...body(n) }),
    })
    const text = await response.text()
    expect([path, response.status, text.slice(0, 300)]).toEqual([path, 200, expect.any(String)])
  }

/** Begins a run, and waits for its end. */
async function accepted(path: string, body: object, headers: Record<string, string>) {
  const response = await fetch(`${app.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  expect([path, response.status]).toEqual([path, 202])
  await app.runsEnded()
}

const AUDIO = Buffer.from(wav(16_000, tone(16_000, 0.5))).toString('base64')
const messages = [{ role: 'user', content: 'x' }]
const DOORS: Readonly<Record<string, (n: number) => Promise<void>>> = {
  agent: post('/v1/agent', (n) => ({ text: 'x', session_id: `a${n}`, interactive: false })),
  completions: post('/v1/chat/completions', (n) => ({
    model: appId,
    messages,
    stream: n % 2 === 0,
  })),
  responses: post('/v1/responses', () => ({ model: appId, input: 'x' })),
  messages: post('/v1/messages', () => ({ model: appId, messages, max_tokens: 100 }), {
    'anthropic-version': '2023-06-01',
  }),
  ollama: post('/ollama/api/chat', () => ({ model: appId, messages, stream: false })),
  voice: post('/v1/voice', (n) => ({ audio_b64: AUDIO, session_id: `v${n}` })),
  share: (n) =>
    post(`/s/${token}`, () => ({ text: 'x' }), {
      authorization: '',
      'x-forwarded-for': `10.1.0.${n}`,
    })(n),
  async runs() {
    const body = { text: 'x', app_id: appId, interactive: true }
    await accepted('/v1/runs', body, key.headers)
  },
  async triggers(n) {
    if (n % 50 === 0) {
      const response = await fetch(`${app.url}/v1/triggers`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...key.headers },
        body: JSON.stringify({ name: 't', text: 'x', app_id: appId }),
      })
      hook = new URL(((await response.json()) as { url: string }).url).pathname
    }
    await accepted(hook, {}, { 'x-forwarded-for': `10.2.0.${n}` })
  },
  async ask_agent() {
    await using client = await autoClient({ url: app.url, headers: key.headers })
    await client.call('ask_agent', { text: 'x' })
  },
}

test.each(Object.keys(DOORS))(
  'a tool that asks is never called by %s',
  async (door) => {
    server.received.length = 0
    for (let n = 0; n < TRIES; n++) {
      upstream.reset()
      upstream.reply({ toolCalls: [{ name: 'home__echo', arguments: '{"text":"hi"}' }] })
      await DOORS[door]?.(n)
      const asked = upstream.requests.filter(({ path }) => path === '/chat/completions')
      expect(asked).toHaveLength(2)
      const told = asked[1]?.body.messages.at(-1)?.content
      expect(told).toBe("Error: needs a person's approval")
    }
    expect(server.methods()).not.toContain('tools/call')
  },
  120_000,
)
