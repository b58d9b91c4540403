import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ON_POSTGRES, startApp, type TestApp } from '../support/app.ts'
import { tone, wav } from '../support/recordings.ts'
import { postSse } from '../support/sse.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

const TOKEN = 'scrape-token'
let upstream: Upstream
let app: TestApp
beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({
    upstream: upstream.baseUrl,
    env: { MB_METRICS_TOKEN: TOKEN, MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1' },
  })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

const scrape = async (server: TestApp = app) => {
  const headers = { authorization: `Bearer ${TOKEN}` }
  const answer = await fetch(`${server.url}/metrics`, { headers })
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toStartWith('text/plain; version=0.0.4')
  return answer.text()
}
const value = (text: string, series: string) =>
  Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${series} `))
      ?.split(' ')
      .at(-1) ?? 0,
  )

test('/metrics is 404 without a configured token and 401 with a wrong one', async () => {
  await using bare = await startApp()
  const headers = { authorization: 'Bearer x' }
  expect((await fetch(`${bare.url}/metrics`, { headers })).status).toBe(404)
  const wrong = ['', 'Bearer', 'Bearer ', 'Bearer scrape', `Basic ${TOKEN}`, `Bearer ${TOKEN}x`]
  for (const authorization of wrong) {
    const answer = await fetch(`${app.url}/metrics`, { headers: { authorization } })
    expect(answer.status).toBe(401)
    expect(await answer.text()).not.toContain('moonbase_')
  }
})

test('/metrics counts requests by route and status, never by invented paths', async () => {
  const { headers } = await app.key()
  for (const id of ['a', 'b', 'c']) await fetch(`${app.url}/v1/sessions/${id}/history`, { headers })
  await fetch(`${app.url}/v1/sessions`)
  for (let n = 0; n < 5; n++) await fetch(`${app.url}/made-up-${n}`, { method: 'PROPFIND' })
  await fetch(`${app.url}/healthz`, { method: 'POST' })
  const text = await scrape()
  const label = (method: string, route: string, status: number) =>
    `moonbase_http_requests_total{method="${method}",route="${route}",status="${status}"}`
  expect(value(text, label('GET', '/v1/sessions/:id/history', 200))).toBe(3)
  expect(value(text, label('GET', '/v1/sessions', 401))).toBe(1)
  expect(value(text, label('other', 'unmatched', 404))).toBe(5)
  expect(value(text, label('POST', 'unmatched', 405))).toBe(1)
  expect(text).not.toContain('made-up')
  expect(text).toContain('moonbase_http_request_seconds_bucket{le="0.01"')
})

test('/metrics shows open streams, failures by reason, fallbacks and memory', async () => {
  const { headers } = await app.key('b@example.com')
  const json = { ...headers, 'content-type': 'application/json' }
  const hold = Promise.withResolvers<void>()
  upstream.reply({ pieces: ['a', 'b'], hold: { after: 1, until: hold.promise } })
  const open = await postSse(`${app.url}/v1/agent`, { headers, body: { text: 'hi', kb: false } })
  for await (const { data } of open) {
    if (data.type !== 'llm_delta') continue
    if (open.events.length === 1) expect(value(await scrape(), 'moonbase_streams_open')).toBe(1)
    hold.resolve()
  }

  upstream.fault(401)
  const own = { base_url: upstream.baseUrl, api_key: 'sk-own', failover: true }
  const put = { method: 'PUT', headers: json, body: JSON.stringify(own) }
  expect((await fetch(`${app.url}/v1/provider`, put)).status).toBe(200)
  const fallen = await postSse(`${app.url}/v1/agent`, { headers, body: { text: 'hi', kb: false } })
  expect((await fallen.all()).at(-1)?.data.type).toBe('llm_end')

  const text = await scrape()
  expect(value(text, 'moonbase_streams_open')).toBe(0)
  expect(
    value(text, 'moonbase_upstream_failures_total{upstream="byo",reason="upstream_4xx"}'),
  ).toBe(1)
  expect(value(text, 'moonbase_fallbacks_total{reason="upstream_4xx"}')).toBe(1)
  expect(value(text, 'moonbase_embedding_queue_texts')).toBe(0)
  if (ON_POSTGRES) expect(value(text, 'moonbase_database_connections')).toBeGreaterThan(0)
  else expect(value(text, 'moonbase_database_bytes')).toBeGreaterThan(4096)
  expect(value(text, 'process_resident_memory_bytes')).toBeGreaterThan(1e6)
  expect(value(text, 'process_cpu_seconds_total')).toBeGreaterThan(0)
  expect(text).toContain('# TYPE process_cpu_seconds_total counter')
  expect(value(text, 'process_uptime_seconds')).toBeGreaterThan(0)
  expect(text.includes('\nmoonbase_database_log_bytes ')).toBe(!ON_POSTGRES)
})

test('/metrics counts the files that were read, by how that ended', async () => {
  const { headers } = await app.key()
  for (const [name, text] of [
    ['a.txt', 'some text'],
    ['b.txt', ' \n '],
  ] as const) {
    const body = new FormData()
    body.append('file', new File([text], name))
    const sent = await fetch(`${app.url}/v1/kb/files`, { method: 'POST', headers, body })
    expect(sent.status).toBe(202)
  }
  await app.jobs.idle()
  const text = await scrape()
  expect(value(text, 'moonbase_source_seconds_count{outcome="ready"}')).toBe(1)
  expect(value(text, 'moonbase_source_seconds_count{outcome="no_text"}')).toBe(1)
  expect(text).toContain('\nmoonbase_sources_waiting 0\n')
  expect(text).toContain('\nmoonbase_sources_reading 0\n')
})

test('/metrics counts failures of the voice upstreams', async () => {
  const env = { MB_TTS_BASE_URL: upstream.baseUrl, MB_ASR_BASE_URL: upstream.baseUrl }
  await using voiced = await startApp({ env: { ...env, MB_METRICS_TOKEN: TOKEN } })
  const { headers } = await voiced.key()
  const heard = Promise.withResolvers<void>()
  const ask = async (path: string, body: BodyInit) => {
    const response = await fetch(`${voiced.url}/v1${path}`, { method: 'POST', headers, body })
    if (response.ok) heard.resolve()
    await response.bytes()
    return response.status
  }
  const text = JSON.stringify({ text: '你好' })
  upstream.speech.fault(401)
  expect(await ask('/tts', text)).toBe(502)
  upstream.transcriptions.fault(401)
  expect(await ask('/asr', Buffer.from(wav(16_000, tone(16_000, 0.5))))).toBe(502)
  upstream.speech.reply({ ms: 60_000, cutAfter: 3, cutWhen: heard.promise })
  expect(await ask('/tts/stream', text)).toBe(200)

  const failed = (await scrape(voiced)).match(/^moonbase_upstream_failures_total\{.*$/gm)
  expect(failed?.sort()).toEqual([
    'moonbase_upstream_failures_total{upstream="asr",reason="upstream_4xx"} 1',
    'moonbase_upstream_failures_total{upstream="tts",reason="provider_error"} 1',
    'moonbase_upstream_failures_total{upstream="tts",reason="upstream_4xx"} 1',
  ])
})
