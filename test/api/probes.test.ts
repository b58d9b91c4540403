import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { StatusReport } from '../../src/features/site/status.ts'
import type { Embedder } from '../../src/upstream/ports/embedder.ts'
import { ChannelFailure } from '../../src/upstream/ports/failure.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { fakeClock } from '../support/clock.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

async function probe(app: TestApp, name: string) {
  const report = (await (await fetch(`${app.url}/status?format=json`)).json()) as StatusReport
  const { state, class: word } = report.checks.find((check) => check.name === name) ?? {}
  return [state, word, report.status]
}

let upstream: Upstream
beforeAll(async () => {
  upstream = await startUpstream()
})
afterEach(() => upstream.reset())
afterAll(() => upstream.stop())

test('the local embedding model is probed only after it failed', async () => {
  let broken = false
  let calls = 0
  const embedder: Embedder = {
    id: 'e',
    async embed(texts) {
      calls++
      if (broken) throw new ChannelFailure('channel_unavailable', 'down')
      return texts.map(() => new Float32Array([1, 0]))
    },
    close: async () => {},
  }
  const clock = fakeClock()
  const env = { MB_METRICS_TOKEN: 't' }
  await using app = await startApp({ embedder, clock, env })
  const { headers } = await app.key()
  const look = () => {
    clock.advance(5_000)
    return probe(app, 'embedding')
  }
  const search = async () => {
    const init = { method: 'POST', headers, body: JSON.stringify({ q: '问' }) }
    return (await fetch(`${app.url}/v1/kb/search`, init)).status
  }
  expect(await look()).toEqual(['ok', 'standby', 'ok'])
  expect(await search()).toBe(200)
  expect(await look()).toEqual(['ok', 'ok', 'ok'])
  expect(calls).toBe(1)

  broken = true
  expect(await search()).toBe(502)
  expect(await look()).toEqual(['down', 'error', 'degraded'])
  const scrape = await fetch(`${app.url}/metrics`, { headers: { authorization: 'Bearer t' } })
  expect(await scrape.text()).toContain(
    'moonbase_upstream_failures_total{upstream="embedding",reason="channel_unavailable"} 2',
  )
  broken = false
  expect(await look()).toEqual(['ok', 'ok', 'ok'])
})

describe.each([
  ['embedding', 'MB_EMBED_BASE_URL'],
  ['tts', 'MB_TTS_BASE_URL'],
  ['asr', 'MB_ASR_BASE_URL'],
])('the remote %s', (name, setting) => {
  test('the probe of the remote %s asks for its models, and for no work', async () => {
    await using app = await startApp({ env: { [setting]: upstream.baseUrl } })
    expect(await probe(app, name)).toEqual(['ok', 'ok', 'ok'])
    expect(upstream.requests.map(({ path }) => path)).toEqual(['/models'])
  })

  test('a remote service that refuses the key is down on /status', async () => {
    upstream.models.fault(401)
    await using app = await startApp({ env: { [setting]: upstream.baseUrl } })
    expect(await probe(app, name)).toEqual(['down', 'unauthorized', 'degraded'])
  })
})

describe.each(['TTS', 'ASR'])('Wyoming for %s', (kind) => {
  const open = (port: number) =>
    startApp({
      env: { [`MB_${kind}_KIND`]: 'wyoming', [`MB_${kind}_BASE_URL`]: `tcp://127.0.0.1:${port}` },
    })

  test('a Wyoming server is up on /status when it accepts a connection', async () => {
    const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
    const { port } = server
    await using app = await open(port)
    expect(await probe(app, kind.toLowerCase())).toEqual(['ok', 'ok', 'ok'])
    server.stop(true)
    await using later = await open(port)
    const gone = ['down', 'connection_failed', 'degraded']
    expect(await probe(later, kind.toLowerCase())).toEqual(gone)
  })
})
