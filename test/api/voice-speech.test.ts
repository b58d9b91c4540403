import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { mp3Frames } from '../support/mp3-frames.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp
let silent: TestApp
let key: TestKey

beforeAll(async () => {
  upstream = await startUpstream()
  const speech = { MB_TTS_BASE_URL: upstream.baseUrl, MB_TTS_API_KEY: 'sk-tts' }
  app = await startApp({ env: speech })
  silent = await startApp({ env: { MB_TTS_KIND: 'none' } })
  key = await app.key()
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await silent[Symbol.asyncDispose]()
  await upstream.stop()
})

const say = (path: string, body: unknown, init: RequestInit = {}) =>
  fetch(`${app.url}${path}`, {
    method: 'POST',
    headers: key.headers,
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...init,
  })
const PATHS = ['/v1/tts', '/v1/tts/stream']

describe('POST /v1/tts', () => {
  test('/v1/tts answers mp3 of 32 kHz and 128 kbps for any rate of the upstream', async () => {
    upstream.speech.reply({ rate: 22_050, ms: 1_000, contentType: 'audio/pcm;rate=22050' })
    const response = await say('/v1/tts', { text: '你好，世界。' })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('audio/mpeg')
    const frames = mp3Frames(new Uint8Array(await response.arrayBuffer()))
    for (const frame of frames) expect(frame).toMatchObject({ rate: 32_000, kbps: 128 })
    expect(frames.length * 1152).toBeWithin(32_000, 32_000 + 4 * 1152)
  })

  test('/v1/tts sends the text, the voice and the key upstream', async () => {
    await say('/v1/tts', { text: ' 你好 ', voice: 'nova', extra: 1 })
    const { headers, body } = upstream.requests.at(-1) ?? {}
    expect(headers?.authorization).toBe('Bearer sk-tts')
    expect(body).toMatchObject({ model: 'tts-1', input: '你好', voice: 'nova' })
    expect(body).toMatchObject({ response_format: 'pcm' })
  })

  test('/v1/tts is 502, not half a sentence, when the upstream breaks off', async () => {
    upstream.speech.reply({ ms: 2_000, cutAfter: 5 })
    const response = await say('/v1/tts', { text: 'x' })
    expect(response.status).toBe(502)
    expect(await response.text()).toBe('语音合成暂不可用，请稍后重试')
  })
})

describe('POST /v1/tts/stream', () => {
  test.each([24_000, 16_000, 44_100, 32_000])(
    '/v1/tts/stream from %d Hz answers 32 kHz PCM',
    async (rate) => {
      upstream.speech.reply({
        rate,
        ms: 500,
        contentType: `audio/pcm;rate=${rate}`,
        chunkBytes: 4_097,
      })
      const response = await say('/v1/tts/stream', { text: '你好' })
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toBe('application/octet-stream')
      expect(response.headers.get('x-audio-format')).toBe('pcm_s16le_32000_mono')
      expect((await response.arrayBuffer()).byteLength).toBe(32_000)
    },
  )

  test('/v1/tts/stream gives the first sound while the upstream still speaks', async () => {
    upstream.speech.reply({ ms: 5_000, hangAfter: 20 })
    const reader = (await say('/v1/tts/stream', { text: '你好' })).body?.getReader()
    expect((await reader?.read())?.value?.length).toBeGreaterThan(0)
    await reader?.cancel()
    await upstream.aborted(upstream.aborts())
  })

  test('/v1/tts/stream ends early without an error when the upstream breaks off', async () => {
    const heard = Promise.withResolvers<void>()
    upstream.speech.reply({ ms: 2_000, cutAfter: 10, cutWhen: heard.promise })
    const response = await say('/v1/tts/stream', { text: 'x' })
    heard.resolve()
    expect(response.status).toBe(200)
    const bytes = (await response.arrayBuffer()).byteLength
    expect(bytes % 2).toBe(0)
    expect(bytes).toBeWithin(1, 2 * 64_000)
  })

  test('a client that leaves /v1/tts/stream ends the call upstream', async () => {
    const left = upstream.aborts()
    upstream.speech.reply({ ms: 60_000, hangAfter: 30 })
    const gone = new AbortController()
    const response = await say('/v1/tts/stream', { text: 'x' }, { signal: gone.signal })
    await response.body?.getReader().read()
    gone.abort()
    await upstream.aborted(left + 1)
  })
})

describe.each(PATHS)('POST %s', (path) => {
  test.each([
    ['no JSON', '{', 'bad request body'],
    ['an array', '[]', 'bad request body'],
    ['no body', '', 'bad request body'],
    ['no text', {}, 'text'],
    ['an empty text', { text: '' }, 'text'],
    ['a blank text', { text: ' \n\t ' }, 'text'],
    ['a number as text', { text: 1 }, 'text'],
    ['a number as voice', { text: 'x', voice: 1 }, 'voice'],
    ['10,001 characters', { text: '好'.repeat(10_001) }, 'text'],
    ['an endless voice id', { text: 'x', voice: 'v'.repeat(201) }, 'voice'],
  ])('speech with %s is refused with 400', async (_name, body, word) => {
    const before = upstream.requests.length
    const response = await say(path, body)
    expect(response.status).toBe(400)
    expect(response.headers.get('content-type')).toStartWith('text/plain')
    expect(await response.text()).toContain(word)
    expect(upstream.requests.length).toBe(before)
  })

  test('10,000 characters outside the basic plane are spoken', async () => {
    upstream.speech.always({ ms: 20 })
    expect((await say(path, { text: '𠮷'.repeat(10_000) })).status).toBe(200)
  })

  test('a speech body over 1 MB is refused with 413', async () => {
    expect((await say(path, { text: 'x', filler: 'y'.repeat(1024 * 1024) })).status).toBe(413)
  })

  test.each([400, 401, 404, 429, 500, 503, 'reset', 'html', 'redirect'] as const)(
    'speech is 502 when the upstream fails with %s',
    async (fault) => {
      upstream.speech.alwaysFault(fault)
      const response = await say(path, { text: 'x' })
      expect(response.status).toBe(502)
      expect(await response.text()).toBe('语音合成暂不可用，请稍后重试')
    },
    60_000,
  )

  test('speech is 502 when the upstream answers no sound at all', async () => {
    upstream.speech.reply({ ms: 0 })
    expect((await say(path, { text: 'x' })).status).toBe(502)
  })

  test('a busy speech upstream is asked again', async () => {
    upstream.speech.fault(503)
    upstream.speech.fault(429, { retryAfter: '0' })
    expect((await say(path, { text: 'x' })).status).toBe(200)
  }, 60_000)

  test('speech is 502 without a configured voice', async () => {
    const other = await silent.key()
    const init = { method: 'POST', headers: other.headers, body: '{"text":"x"}' }
    const response = await fetch(`${silent.url}${path}`, init)
    expect(response.status).toBe(502)
    expect(await response.text()).toBe('语音合成未配置，暂不可用')
  })

  test('a client that leaves before the first sound ends the call upstream', async () => {
    const left = upstream.aborts()
    upstream.speech.reply({ ms: 60_000, hangAfter: 0 })
    const gone = new AbortController()
    const answer = say(path, { text: 'leaving' }, { signal: gone.signal }).catch(() => null)
    while (upstream.requests.at(-1)?.body.input !== 'leaving') await upstream.nextRequest()
    gone.abort()
    await upstream.aborted(left + 1)
    expect(await answer).toBeNull()
  })
})

test('a long text is spoken in order, in pieces under the limit of the upstream', async () => {
  const text = '春眠不觉晓，处处闻啼鸟。夜来风雨声，花落知多少！'.repeat(60)
  upstream.speech.always({ ms: 50 })
  const before = upstream.requests.length
  const response = await say('/v1/tts/stream', { text })
  const spoken = upstream.requests.slice(before).map(({ body }) => String(body.input))
  const bytes = (await response.arrayBuffer()).byteLength
  const all = upstream.requests.slice(before).map(({ body }) => String(body.input))
  expect(all.join('')).toBe(text)
  expect(spoken.length).toBeLessThan(all.length)
  expect(bytes).toBe(all.length * 1_600 * 2)
})

test('both speech routes write a log row with the length of the text', async () => {
  const other = await app.key('log@example.com')
  const send = (path: string, body: string) =>
    fetch(`${app.url}${path}`, { method: 'POST', headers: other.headers, body })
  await (await send('/v1/tts', '{"text":" 你好 "}')).arrayBuffer()
  await (await send('/v1/tts/stream', '{"text":"你好啊"}')).arrayBuffer()
  upstream.speech.fault(400)
  await send('/v1/tts', '{"text":"x"}')
  await send('/v1/tts', '{"text":""}')
  await app.flush()
  const rows = await app.db.all({
    sql: `SELECT endpoint, status, text_chars, error_class FROM request_log
      WHERE tenant_id = ? ORDER BY ts, id`,
    args: [other.tenantId],
  })
  expect(rows).toEqual([
    { endpoint: '/v1/tts', status: 200, text_chars: 2, error_class: null },
    { endpoint: '/v1/tts/stream', status: 200, text_chars: 3, error_class: null },
    { endpoint: '/v1/tts', status: 502, text_chars: 1, error_class: 'upstream' },
    { endpoint: '/v1/tts', status: 400, text_chars: null, error_class: 'bad_request' },
  ])
})

test.each(PATHS)('%s needs a key and takes every kind of key', async (path) => {
  const init = (headers: Record<string, string>) => ({
    method: 'POST',
    headers,
    body: '{"text":"x"}',
  })
  expect((await fetch(`${app.url}${path}`, init({}))).status).toBe(401)
  for (const scope of [{ appId: 'app-1' }, { deviceId: 'device-1' }]) {
    const { headers } = await app.key('kinds@example.com', scope)
    expect((await fetch(`${app.url}${path}`, init(headers))).status).toBe(200)
  }
})
