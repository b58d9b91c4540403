import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { credentials, SURFACES, type Surface } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { mp3Frames } from '../support/mp3-frames.ts'
import { tone, wav } from '../support/recordings.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp
let headers: Record<Surface, Record<string, string>>

beforeAll(async () => {
  upstream = await startUpstream()
  const { baseUrl } = upstream
  const env = { MB_TTS_BASE_URL: baseUrl, MB_ASR_BASE_URL: baseUrl }
  app = await startApp({ upstream: baseUrl, env })
  headers = await credentials(app)
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

const SPEECH = new Uint8Array(wav(16_000, tone(16_000, 0.3)))

describe.each(SURFACES)('%s', (surface) => {
  const post = (path: string, body: BodyInit) =>
    fetch(`${app.url}${surface}${path}`, { method: 'POST', headers: headers[surface], body })

  test(`speech, streaming, recognition and voice turns work on ${surface}`, async () => {
    const mp3 = await post('/tts', '{"text":"你好"}')
    expect(mp3Frames(await mp3.bytes())[0]).toMatchObject({ rate: 32_000, kbps: 128 })
    const stream = await post('/tts/stream', '{"text":"你好"}')
    expect(stream.headers.get('x-audio-format')).toBe('pcm_s16le_32000_mono')
    expect((await stream.bytes()).length).toBe(12_800)
    expect(await (await post('/asr', SPEECH)).json()).toHaveProperty('text')
    const turn = await post('/voice', JSON.stringify({ audio_b64: SPEECH.toBase64() }))
    expect(await turn.json()).toMatchObject({ reply_text: '好的', audio_format: 'mp3' })
  })

  test('voice routes refuse the credential of the other side', async () => {
    const other = SURFACES.find((name) => name !== surface) ?? surface
    for (const path of ['/tts', '/tts/stream', '/asr', '/voice']) {
      const init = { method: 'POST', headers: headers[other], body: '{"text":"x"}' }
      expect((await fetch(`${app.url}${surface}${path}`, init)).status).toBe(401)
    }
  })
})

test('voice calls write log rows on the machine side only', async () => {
  await app.flush()
  const rows = await app.db.all<{ endpoint: string }>({
    sql: 'SELECT endpoint FROM request_log ORDER BY endpoint',
    args: [],
  })
  expect(rows.map(({ endpoint }) => endpoint)).toEqual([
    '/v1/agent',
    '/v1/asr',
    '/v1/asr',
    '/v1/tts',
    '/v1/tts',
    '/v1/tts/stream',
  ])
})
