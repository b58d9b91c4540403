import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createMiniMaxTts } from '../../src/channels/minimax/tts.ts'
import { detectLocalServer } from '../../src/channels/openai/detect.ts'
import { checkLogin } from '../../src/commands/doctor/mail.ts'
import { checkModel } from '../../src/commands/doctor/upstreams.ts'
import { loadConfig } from '../../src/config.ts'
import { systemClock } from '../../src/core/clock.ts'
import type { StatusReport } from '../../src/features/site/status.ts'
import { createUpstreamFetch } from '../../src/upstream/net/upstream-call.ts'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { brotliBomb } from '../support/brotli-bomb.ts'
import { tone, wav } from '../support/recordings.ts'

/**
 * Every upstream answers each request with a few hundred bytes that unpack to 512 MB of zeros. Each
 * kind must fail at once; the last test sees that nothing was unpacked on the way.
 */
const MEGABYTES = 512
const MEMORY_KB_MAX = 200_000

let bomb: Uint8Array
let hits = 0
let server: Bun.Server<undefined>
let app: TestApp
let key: TestKey
let peakBefore: number
const baseUrl = () => `http://127.0.0.1:${server.port}/v1`
const upstreamFetch = createUpstreamFetch(fetch)

beforeAll(async () => {
  bomb = await brotliBomb(MEGABYTES)
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch({ url }) {
      if (url.endsWith('/plain')) return new Response('plain')
      hits += 1
      const headers = { 'content-encoding': 'br', 'content-type': 'text/event-stream' }
      return new Response(bomb as Uint8Array<ArrayBuffer>, { headers })
    },
  })
  const url = baseUrl()
  app = await startApp({
    upstream: url,
    env: {
      MB_EMBED_BASE_URL: url,
      MB_TTS_BASE_URL: url,
      MB_ASR_BASE_URL: url,
      MB_OIDC_ISSUER: url,
      MB_OIDC_CLIENT_ID: 'moonbase',
      MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1',
    },
  })
  key = await app.key()
  peakBefore = process.resourceUsage().maxRSS
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await server.stop(true)
})

const post = (path: string, body: object) =>
  fetch(app.url + path, {
    method: 'POST',
    headers: key.headers,
    body: body instanceof Blob ? body : JSON.stringify(body),
  })
const turn = async () => (await post('/v1/agent', { text: 'hi', kb: false })).text()

const KINDS: Readonly<Record<string, () => Promise<void>>> = {
  'the model of the platform': async () => {
    const events = await turn()
    expect(events).toContain('"type":"error"')
    expect(events).not.toContain('llm_delta')
  },
  'a model that a tenant brings': async () => {
    const body = JSON.stringify({ base_url: baseUrl(), api_key: 'sk-byo', failover: false })
    const init = { method: 'PUT', headers: key.headers, body }
    expect((await fetch(`${app.url}/v1/provider`, init)).status).toBe(200)
    expect(await turn()).toContain('"type":"error"')
  },
  'the test of a model that a tenant brings': async () => {
    const result = await (await post('/v1/provider/test', {})).json()
    expect(result).toMatchObject({ ok: false, error: 'compressed answer' })
  },
  embeddings: async () => {
    expect((await post('/v1/kb/docs', { title: 't', text: 'x' })).status).toBe(502)
  },
  speech: async () => {
    expect((await post('/v1/tts', { text: '你好' })).status).toBe(502)
  },
  'speech of MiniMax': async () => {
    const tts = createMiniMaxTts({
      ...{ baseUrl: baseUrl(), apiKey: '', model: 'm', voice: '' },
      ...{ fetch: upstreamFetch, clock: systemClock() },
    })
    const { signal } = new AbortController()
    const failure = { reason: 'provider_error', phrase: 'compressed answer' }
    await expect(
      tts.speak({ text: '你好', voice: 'v', tenantId: 't' }, signal),
    ).rejects.toMatchObject(failure)
  },
  recognition: async () => {
    const recording = new Blob([wav(16_000, tone(16_000, 0.2)) as Uint8Array<ArrayBuffer>])
    expect((await post('/v1/asr', recording)).status).toBe(502)
  },
  'the status page': async () => {
    const { checks } = (await (await fetch(`${app.url}/status?format=json`)).json()) as StatusReport
    for (const name of ['llm', 'embedding', 'tts', 'asr']) {
      expect(checks.find((check) => check.name === name)?.state).toBe('down')
    }
  },
  'an OpenID issuer': async () => {
    const response = await fetch(`${app.url}/auth/oauth/oidc`, { redirect: 'manual' })
    expect(response.headers.get('location')).toStartWith('/login?error=')
  },
  'a model server on this machine': async () => {
    const candidates = [{ name: 'Ollama', port: server.port ?? 0 }]
    const options = { fetch: upstreamFetch, clock: systemClock(), candidates, timeoutMs: 5_000 }
    expect(await detectLocalServer(options)).toBeNull()
  },
  'a list of models that doctor asks for': async () => {
    const endpoint = { baseUrl: baseUrl(), apiKey: '' }
    const signal = AbortSignal.timeout(5_000)
    const finding = await checkModel(loadConfig({}), endpoint, 'x', upstreamFetch, signal)
    expect(finding.text).toContain('gives no list of models')
  },
  'an issuer that doctor asks': async () => {
    const config = loadConfig({ MB_OIDC_ISSUER: baseUrl(), MB_OIDC_CLIENT_ID: 'm' })
    const findings = await checkLogin(config, upstreamFetch, AbortSignal.timeout(5_000))
    expect(findings).toMatchObject([{ level: 'fail' }])
  },
}

for (const [name, fails] of Object.entries(KINDS)) {
  test(`a packed answer is a failure of ${name}`, async () => {
    const before = hits
    await fails()
    expect(hits).toBeGreaterThan(before)
  })
}

test('no compressed answer of an upstream is unpacked', async () => {
  // All requests share one thread, so this one comes after whatever is still being unpacked.
  expect(await (await fetch(`${baseUrl()}/plain`)).text()).toBe('plain')
  expect(process.resourceUsage().maxRSS - peakBefore).toBeLessThan(MEMORY_KB_MAX)
})
