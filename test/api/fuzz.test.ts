import { expect, test } from 'bun:test'
import { startApp } from '../support/app.ts'
import { type Document, fuzz } from '../support/fuzz/run.ts'
import { startUpstream } from '../support/upstream.ts'

/** More rounds and another seed for a longer search: MOONBASE_FUZZ=500:7 bun test fuzz. */
const [rounds = 12, seed = 1] = (process.env.MOONBASE_FUZZ ?? '')
  .split(':')
  .flatMap((text) => (text === '' ? [] : [Number(text)]))

test('no generated request to any route gives a 5xx of the server', async () => {
  const upstream = await startUpstream()
  upstream.speech.always({ ms: 20 })
  await using app = await startApp({
    upstream: upstream.baseUrl,
    env: {
      MB_EMBED_BASE_URL: upstream.baseUrl,
      MB_EMBED_MODEL: 'fake-embed',
      MB_TTS_BASE_URL: upstream.baseUrl,
      MB_ASR_BASE_URL: upstream.baseUrl,
      MB_TRUST_PROXY: '1',
      MB_LLM_TIMEOUT_MS: '2000',
    },
  })
  const general = await app.key()
  const device = await app.key('a@example.com', { deviceId: 'd' })
  const ofApp = await app.key('a@example.com', { appId: 'a' })
  const person = await app.person()
  const keys = [general, general, general, general, device, ofApp]
  const ids = async () => {
    const lists = ['/v1/apps', '/v1/devices', '/v1/kb/docs', '/v1/sessions']
    const texts = await Promise.all(
      lists.map(async (path) => (await fetch(app.url + path, general)).text()),
    )
    return [...texts.join('').matchAll(/"id":"([^"]{1,200})"/g)].map(([, id]) => id ?? '')
  }
  const document = (await (await fetch(`${app.url}/openapi.json`)).json()) as Document
  const total: Record<string, number> = {}
  for (let round = 0; round < rounds; round++) {
    const known = await ids()
    const { byStatus, problems } = await fuzz({
      url: app.url,
      document,
      rounds: 1,
      seed: seed * 100_000 + round,
      ids: () => known,
      credential: (path, random) => {
        if (random() < 0.03) return {}
        if (!path.startsWith('/v1/')) return person.headers
        return keys[Math.floor(random() * keys.length)]?.headers ?? {}
      },
    })
    expect(problems).toEqual([])
    for (const [status, count] of Object.entries(byStatus)) {
      total[status] = (total[status] ?? 0) + count
    }
  }
  if (process.env.MOONBASE_FUZZ) process.stderr.write(`${JSON.stringify(total)}\n`)
  // Enough came past the checks to mean something.
  expect(total[200]).toBeGreaterThan(rounds * 10)
  expect(app.log()).not.toContain('"event":"request failed"')
  expect(await (await fetch(`${app.url}/healthz`)).text()).toBe('ok')
  await upstream.stop()
}, 600_000)
