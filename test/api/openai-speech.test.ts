import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type OpenAI from 'openai'
import type { SpeechCreateParams } from 'openai/resources/audio/speech'
import { caller } from '../support/api.ts'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { mp3Frames } from '../support/mp3-frames.ts'
import { openAiClient, refusalOf } from '../support/openai-client.ts'
import { codecs } from '../support/speech-codecs.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { startMiniMax } from '../support/upstream-minimax.ts'

let upstream: Upstream
let app: TestApp
let key: TestKey
let client: OpenAI
beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({ env: { MB_TTS_BASE_URL: upstream.baseUrl, MB_TTS_VOICE: 'house' } })
  key = await app.key()
  client = openAiClient(app, key)
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

const say = (body: Partial<SpeechCreateParams>, asker = client) =>
  asker.audio.speech.create({ model: 'tts-1', voice: 'alloy', input: '你好', ...body })

/** Seconds of a sound file, decoded again. */
async function secondsOf(bytes: Uint8Array): Promise<number> {
  let size = 0
  const { signal } = new AbortController()
  for await (const part of codecs.decode({ bytes, tenantId: 't' }, 24_000, signal)) {
    size += part.length
  }
  return size / 2 / 24_000
}

describe('speech for the OpenAI client', () => {
  const SECOND = { ms: 1_000, rate: 22_050, contentType: 'audio/pcm;rate=22050' }

  test.each([
    ['mp3', 'audio/mpeg'],
    ['wav', 'audio/wav'],
    ['opus', 'audio/ogg'],
  ] as const)('speech as %s lasts as long as the upstream spoke', async (format, type) => {
    upstream.speech.reply(SECOND)
    const answer = await say({ response_format: format })
    expect(answer.headers.get('content-type')).toBe(type)
    const seconds = await secondsOf(new Uint8Array(await answer.arrayBuffer()))
    expect(seconds).toBeWithin(0.99, 1.15)
  })

  test('speech is mp3 when no format is given, of 128 kbps', async () => {
    upstream.speech.reply(SECOND)
    const answer = await say({})
    expect(answer.headers.get('content-type')).toBe('audio/mpeg')
    const frames = mp3Frames(new Uint8Array(await answer.arrayBuffer()))
    for (const frame of frames) expect(frame).toMatchObject({ rate: 32_000, kbps: 128 })
  })

  test('speech as pcm is 24 kHz mono without a header', async () => {
    upstream.speech.reply(SECOND)
    const answer = await say({ response_format: 'pcm' })
    expect(answer.headers.get('content-type')).toBe('audio/pcm')
    expect((await answer.arrayBuffer()).byteLength).toBeWithin(47_990, 48_010)
  })

  test('speech takes a null for a field that is not given', async () => {
    upstream.speech.reply({ ms: 100 })
    const nothing = { voice: null, response_format: null, speed: null, stream_format: null }
    const body = { input: '你好', model: null, instructions: null, ...nothing }
    const call = caller(app.url, key.headers)
    const { status, headers } = await call('POST', '/v1/audio/speech', body)
    expect([status, headers.get('content-type')]).toEqual([200, 'audio/mpeg'])
  })

  test('speech as wav says 24 kHz mono', async () => {
    upstream.speech.reply({ ms: 100 })
    const head = Buffer.from(await (await say({ response_format: 'wav' })).arrayBuffer())
    expect([head.toString('latin1', 0, 4), head.toString('latin1', 8, 12)]).toEqual([
      'RIFF',
      'WAVE',
    ])
    expect([head.readUInt16LE(22), head.readUInt32LE(24), head.readUInt16LE(34)]).toEqual([
      1, 24_000, 16,
    ])
    expect(head.length - 44).toBe(4_800)
  })

  test.each(['mp3', 'wav', 'pcm', 'opus'] as const)(
    'speech as %s begins while the upstream still speaks, and a client that leaves ends it',
    async (format) => {
      const left = upstream.aborts()
      upstream.speech.reply({ ms: 60_000, chunkBytes: 8_000, hangAfter: 40 })
      const gone = new AbortController()
      const answer = await client.audio.speech.create(
        { model: 'm', voice: 'v', input: 'x', response_format: format },
        { signal: gone.signal },
      )
      expect((await answer.body?.getReader().read())?.value?.length).toBeGreaterThan(0)
      gone.abort()
      await upstream.aborted(left + 1)
    },
  )

  test('speech as events is base64 deltas, then done, then [DONE]', async () => {
    upstream.speech.reply({ ms: 500 })
    const answer = await say({ stream_format: 'sse', response_format: 'pcm' })
    expect(answer.headers.get('content-type')).toStartWith('text/event-stream')
    const frames = (await answer.text()).trimEnd().split('\n\n')
    expect(frames.filter((frame) => !/^data: \S[^\n]*$/.test(frame))).toEqual([])
    expect(frames.at(-1)).toBe('data: [DONE]')
    const events = frames.slice(0, -1).map((frame) => JSON.parse(frame.slice(6)))
    expect(events.pop()).toEqual({ type: 'speech.audio.done' })
    const sound = events.map(({ type, audio }) => {
      expect(type).toBe('speech.audio.delta')
      return Buffer.from(audio, 'base64')
    })
    expect(Buffer.concat(sound).length).toBe(24_000)
  })

  test('speech leaves a row in the log with the characters of the text', async () => {
    await (await say({ input: ' 四个汉字 ' })).arrayBuffer()
    await app.flush()
    const call = caller(app.url, key.headers)
    const { logs } = (await call('GET', '/v1/logs?endpoint=/v1/audio/speech&limit=1')).json()
    expect(logs).toMatchObject([
      { endpoint: '/v1/audio/speech', status: 200, text_chars: 4, session_id: null },
    ])
  })
})

describe('the voice and the pace', () => {
  const asked = () => upstream.requests.at(-1)?.body

  test.each([
    ['alloy', 'alloy'],
    ['zf_xiaoxiao', 'zf_xiaoxiao'],
    [{ id: 'own' }, 'own'],
    ['', 'house'],
    [null, 'house'],
    [undefined, 'house'],
  ])('the voice %j is %j at an OpenAI upstream', async (voice, name) => {
    await (await say({ voice } as object)).arrayBuffer()
    expect(asked()).toMatchObject({ voice: name, input: '你好' })
  })

  test("OpenAI's voices are the configured one elsewhere, and the pace is bounded", async () => {
    const minimax = startMiniMax({ chunks: [new Uint8Array(6_400)] })
    const env = { MB_TTS_KIND: 'minimax', MB_TTS_BASE_URL: minimax.baseUrl, MB_TTS_VOICE: 'mine' }
    await using other = await startApp({ env })
    const asker = openAiClient(other, await other.key())
    const settings = async (body: object) => {
      await (await say(body, asker)).arrayBuffer()
      return minimax.requests.at(-1)?.body.voice_setting
    }
    expect(await settings({ voice: 'Nova' })).toMatchObject({ voice_id: 'mine', speed: 1 })
    expect(await settings({ voice: 'male-1', speed: 4 })).toMatchObject({
      voice_id: 'male-1',
      speed: 2,
    })
    expect(await settings({ speed: 0.25 })).toMatchObject({ speed: 0.5 })
  })

  test('the pace goes to an OpenAI upstream as it is, and the usual one not at all', async () => {
    await (await say({ speed: 0.25 })).arrayBuffer()
    expect(asked()).toMatchObject({ speed: 0.25 })
    await (await say({ speed: 1, instructions: 'softly' })).arrayBuffer()
    expect(asked()).not.toContainAnyKeys(['speed', 'instructions'])
  })

  test.skipIf(!Bun.which('espeak-ng'))('eSpeak speaks twice as fast at speed 2', async () => {
    await using local = await startApp({ env: { MB_TTS_KIND: 'espeak' } })
    const asker = openAiClient(local, await local.key())
    const bytesAt = async (speed: number) => {
      const body = { input: 'The quick brown fox.', response_format: 'pcm', speed } as const
      return (await (await say(body, asker)).arrayBuffer()).byteLength
    }
    expect((await bytesAt(1)) / (await bytesAt(2))).toBeWithin(1.5, 2.5)
  })
})

describe('refused speech', () => {
  const cases: [string, object, param: string, code: string | null][] = [
    ['no input', { input: undefined }, 'input', null],
    ['a blank input', { input: ' \n' }, 'input', null],
    ['10,001 characters', { input: '好'.repeat(10_001) }, 'input', null],
    ['a number as input', { input: 1 }, 'input', null],
    ['aac', { response_format: 'aac' }, 'response_format', 'unsupported_value'],
    ['flac', { response_format: 'flac' }, 'response_format', 'unsupported_value'],
    ['a speed of 0.2', { speed: 0.2 }, 'speed', 'unsupported_value'],
    ['a speed of 4.1', { speed: 4.1 }, 'speed', 'unsupported_value'],
    ['an unknown stream format', { stream_format: 'x' }, 'stream_format', 'unsupported_value'],
    ['a number as voice', { voice: 1 }, 'voice', null],
    ['an endless voice id', { voice: 'v'.repeat(201) }, 'voice', null],
  ]
  test.each(cases)('speech with %s is a 400 that names the field', async (_, body, param, code) => {
    const before = upstream.requests.length
    expect(await refusalOf(say(body))).toMatchObject({ status: 400, param, code })
    expect(upstream.requests.length).toBe(before)
  })

  test('the refusal of a format lists the four', async () => {
    const { message } = await refusalOf(say({ response_format: 'aac' }))
    for (const format of ['mp3', 'wav', 'pcm', 'opus']) expect(message).toContain(format)
  })

  test('speech over 1 MB is a 413, of a GET a 405, without a key a 401', async () => {
    expect(await refusalOf(say({ instructions: 'x'.repeat(1_048_576) }))).toMatchObject({
      status: 413,
      code: 'request_too_large',
    })
    const wrong = await caller(app.url, key.headers)('GET', '/v1/audio/speech')
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST'])
    expect(await refusalOf(say({}, openAiClient(app, { key: 'none' })))).toMatchObject({
      status: 401,
      code: 'invalid_api_key',
    })
  })
})

describe('speech of an upstream that fails', () => {
  test.each([
    [400, 'upstream_4xx', 1],
    [500, 'upstream_5xx', 3],
    [429, 'retry_exhausted', 3],
    ['html', 'upstream_5xx', 1],
  ] as const)(
    'an upstream of speech that fails with %s before the first sound is one 502, %s',
    async (fault, code, calls) => {
      upstream.speech.alwaysFault(fault)
      const before = upstream.requests.length
      const error = await refusalOf(say({}))
      expect(error).toMatchObject({ status: 502, type: 'upstream_error', code, param: null })
      expect(error.headers?.get('x-should-retry')).toBe('false')
      expect(error.message).not.toContain('SECRET')
      // The tries are our own; the client makes none.
      expect(upstream.requests.length - before).toBe(calls)
    },
    60_000,
  )

  test('speech that is not configured is a 502 with the code channel_unavailable', async () => {
    await using silent = await startApp({ env: { MB_TTS_KIND: 'none' } })
    const error = await refusalOf(say({}, openAiClient(silent, await silent.key())))
    expect(error).toMatchObject({ status: 502, code: 'channel_unavailable' })
  })

  test('an upstream of speech that fails in the middle ends the sound early', async () => {
    const heard = Promise.withResolvers<void>()
    const broken = { ms: 2_000, chunkBytes: 4_000, cutAfter: 10, cutWhen: heard.promise }
    upstream.speech.reply(broken)
    const answer = await say({ response_format: 'pcm' })
    heard.resolve()
    const bytes = (await answer.arrayBuffer()).byteLength
    expect(bytes).toBeWithin(1, 96_000)
  })

  test('speech events that fail in the middle end with an error, without [DONE]', async () => {
    const heard = Promise.withResolvers<void>()
    const broken = { ms: 2_000, chunkBytes: 4_000, cutAfter: 10, cutWhen: heard.promise }
    upstream.speech.reply(broken)
    const answer = await say({ response_format: 'pcm', stream_format: 'sse' })
    heard.resolve()
    const frames = (await answer.text()).trimEnd().split('\n\n')
    expect(frames[0]).toContain('speech.audio.delta')
    const last = JSON.parse(frames.at(-1)?.slice(6) ?? '')
    expect(last.error).toMatchObject({ type: 'upstream_error', param: null })
    expect(frames.join('')).not.toContain('[DONE]')
  })
})

test.each([
  ['/v1/audio/speech', { input: '你好', model: 'x', voice: 'x', response_format: 'pcm' }],
  ['/v1/tts/stream', { text: '你好' }],
])('speech of %s ends when its key is revoked', async (path, body) => {
  const left = upstream.aborts()
  const revoked = await app.key('a@example.com')
  upstream.speech.reply({ ms: 60_000, chunkBytes: 8_000, hangAfter: 40 })
  const answer = await fetch(app.url + path, {
    method: 'POST',
    headers: { ...revoked.headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(answer.status).toBe(200)
  const { headers } = await app.person('a@example.com')
  await caller(`${app.url}/console`, headers)('DELETE', `/keys/${revoked.id}`)
  expect((await answer.arrayBuffer()).byteLength).toBeLessThan(60 * 64_000)
  await upstream.aborted(left + 1)
})
