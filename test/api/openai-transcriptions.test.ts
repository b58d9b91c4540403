import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type OpenAI from 'openai'
import { caller } from '../support/api.ts'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { hear, openAiClient, refusalOf } from '../support/openai-client.ts'
import { tone, wav } from '../support/recordings.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp
let key: TestKey
let client: OpenAI
beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({ env: { MB_ASR_BASE_URL: upstream.baseUrl } })
  key = await app.key()
  client = openAiClient(app, key)
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

const SOUND = wav(16_000, tone(16_000, 1.5))
const HEARD = {
  text: '你好，世界。再见！',
  verbose: {
    language: 'chinese',
    duration: 3.25,
    segments: [
      { id: 0, start: 0, end: 1.5, text: ' 你好，世界。' },
      { id: 1, start: 1.5, end: 3_723.004, text: '再见！' },
    ],
    words: [
      { word: '你好', start: 0, end: 0.5 },
      { word: '再见', start: 1.5, end: 2 },
    ],
  },
}

type Fields = Readonly<Record<string, unknown>>
const ask = (fields: Fields = {}, bytes = SOUND) => hear(client, bytes, fields)

const sent = (name: string) => upstream.requests.at(-1)?.form?.getAll(name)

describe('a transcription for the OpenAI client', () => {
  test('a transcription is JSON with its text, and no language is made up', async () => {
    upstream.transcriptions.reply({ text: ' 你好。 ' })
    expect(await ask()).toEqual({ text: '你好。' })
    expect(sent('language')).toEqual([])
    expect(sent('prompt')).toEqual([])
    expect(sent('response_format')).toEqual(['json'])
  })

  test('a transcription passes on the hints of the caller', async () => {
    await ask({ language: 'en', prompt: 'Moonbase.', temperature: 0.5 })
    expect(sent('language')).toEqual(['en'])
    expect(sent('prompt')).toEqual(['Moonbase.'])
    expect(sent('temperature')).toEqual(['0.5'])
  })

  test('a transcription as text is the text and a line feed', async () => {
    upstream.transcriptions.reply({ text: '你好。' })
    expect(await ask({ response_format: 'text' })).toBe('你好。\n')
  })

  test('a transcription as verbose_json has the segments of the engine', async () => {
    upstream.transcriptions.reply(HEARD)
    const verbose = await ask({ response_format: 'verbose_json' })
    expect(verbose).toMatchObject({
      task: 'transcribe',
      language: 'chinese',
      duration: 3.25,
      text: HEARD.text,
      segments: HEARD.verbose.segments,
    })
    expect((verbose as { segments: object[] }).segments[1]).toEqual({
      ...{ id: 1, seek: 0, start: 1.5, end: 3_723.004, text: '再见！' },
      ...{ tokens: [], temperature: 0, avg_logprob: 0, compression_ratio: 0, no_speech_prob: 0 },
    })
    expect(verbose).not.toHaveProperty('words')
  })

  test('a transcription has the times of words when they are asked for', async () => {
    upstream.transcriptions.reply(HEARD)
    const fields = { timestamp_granularities: ['word', 'segment'] }
    const verbose = await ask({ response_format: 'verbose_json', ...fields })
    expect(verbose).toMatchObject({ words: HEARD.verbose.words })
    expect(sent('timestamp_granularities[]')).toEqual(['word', 'segment'])
  })

  test('a transcription as srt has a numbered cue for each segment', async () => {
    upstream.transcriptions.reply(HEARD)
    expect(await ask({ response_format: 'srt' })).toBe(
      '1\n00:00:00,000 --> 00:00:01,500\n你好，世界。\n\n' +
        '2\n00:00:01,500 --> 01:02:03,004\n再见！\n\n',
    )
  })

  test('a transcription as vtt has a cue for each segment, its marks escaped', async () => {
    const segments = [{ start: 0, end: 1, text: 'a --> <b>\n\n& c' }]
    upstream.transcriptions.reply({ text: 'x', verbose: { segments } })
    expect(await ask({ response_format: 'vtt' })).toBe(
      'WEBVTT\n\n00:00:00.000 --> 00:00:01.000\na --&gt; &lt;b&gt;\n&amp; c\n\n',
    )
  })

  test('the content types are those of the formats', async () => {
    const types = await Promise.all(
      ['json', 'text', 'verbose_json', 'srt', 'vtt'].map(async (response_format) => {
        const body = new FormData()
        body.set('file', new Blob([SOUND as Uint8Array<ArrayBuffer>]), 'a.wav')
        body.set('response_format', response_format)
        const url = `${app.url}/v1/audio/transcriptions`
        const answer = await fetch(url, { method: 'POST', headers: key.headers, body })
        return answer.headers.get('content-type')?.split(';')[0]
      }),
    )
    const json = 'application/json'
    expect(types).toEqual([json, 'text/plain', json, 'text/plain', 'text/vtt'])
  })

  test('a streamed transcription is a delta, the whole, and [DONE]', async () => {
    upstream.transcriptions.reply({ text: '你好。' })
    const events: unknown[] = []
    for await (const event of (await ask({ stream: true })) as AsyncIterable<unknown>) {
      events.push(event)
    }
    expect(events).toEqual([
      { type: 'transcript.text.delta', delta: '你好。' },
      { type: 'transcript.text.done', text: '你好。' },
    ])
  })

  test('a transcription leaves a row in the log with the characters of its text', async () => {
    upstream.transcriptions.reply({ text: '四个汉字' })
    await ask()
    await app.flush()
    const path = '/v1/logs?endpoint=/v1/audio/transcriptions&limit=1'
    const { logs } = (await caller(app.url, key.headers)('GET', path)).json()
    expect(logs).toMatchObject([
      { endpoint: '/v1/audio/transcriptions', status: 200, text_chars: 4, session_id: null },
    ])
  })
})

describe('refused transcriptions', () => {
  const cases: [string, Fields, param: string][] = [
    ['diarized_json', { response_format: 'diarized_json' }, 'response_format'],
    ['an unknown format', { response_format: 'x' }, 'response_format'],
    ['a temperature of 2', { temperature: 2 }, 'temperature'],
    ['words as temperature', { temperature: 'hot' }, 'temperature'],
    ['a language that is none', { language: 'e\nn' }, 'language'],
    ['other times', { timestamp_granularities: ['phone'] }, 'timestamp_granularities[]'],
  ]
  test.each(cases)('%s is a 400 that names the field', async (_, fields, param) => {
    const before = upstream.requests.length
    const code = 'unsupported_value'
    expect(await refusalOf(ask(fields))).toMatchObject({ status: 400, param, code })
    expect(upstream.requests.length).toBe(before)
  })

  test('a transcription of no recording, of an empty one and without a form is 400', async () => {
    const empty = await refusalOf(ask({}, new Uint8Array(0)))
    expect(empty).toMatchObject({ status: 400, param: 'file' })
    const body = new FormData()
    body.set('model', 'whisper-1')
    const url = `${app.url}/v1/audio/transcriptions`
    const none = await fetch(url, { method: 'POST', headers: key.headers, body })
    expect([none.status, (await none.json()).error.param]).toEqual([400, 'file'])
    const json = await caller(app.url, key.headers)('POST', '/v1/audio/transcriptions', {})
    expect(json.status).toBe(400)
  })

  test('a recording of a kind that is not taken is 415, and no recogniser is asked', async () => {
    const before = upstream.requests.length
    const caf = Buffer.from('caff\0\x01\0\0desc', 'latin1')
    expect(await refusalOf(ask({}, caf))).toMatchObject({ status: 415, param: 'file' })
    expect(upstream.requests.length).toBe(before)
  })

  test('a form of more fields than any client sends is a 400', async () => {
    const body = new FormData()
    body.set('file', new Blob([new Uint8Array(SOUND)]), 'a.wav')
    for (let i = 0; i < 40; i++) body.set(`x${i}`, '')
    const url = `${app.url}/v1/audio/transcriptions`
    const answer = await fetch(url, { method: 'POST', headers: key.headers, body })
    expect(answer.status).toBe(400)
  })

  test('a recording of 25 MB is taken, one byte more is a 413', async () => {
    const most = new Uint8Array(25 * 1024 * 1024)
    most.set(SOUND)
    upstream.transcriptions.reply({ text: '好' })
    expect(await ask({}, most)).toEqual({ text: '好' })
    const more = await refusalOf(ask({}, new Uint8Array(most.length + 1)))
    expect(more).toMatchObject({ status: 413, code: 'request_too_large' })
  }, 60_000)

  test('a wrong method is a 405, and no key a 401', async () => {
    const wrong = await caller(app.url, key.headers)('GET', '/v1/audio/transcriptions')
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST'])
    const refusal = await refusalOf(hear(openAiClient(app, { key: 'none' }), SOUND))
    expect(refusal).toMatchObject({ status: 401, code: 'invalid_api_key' })
  })
})

describe('a transcription of an upstream that fails', () => {
  test.each([
    [400, 'upstream_4xx', 1],
    [500, 'upstream_5xx', 3],
    [429, 'retry_exhausted', 3],
    ['html', 'upstream_5xx', 1],
  ] as const)(
    'a recogniser that fails with %s is one 502, %s',
    async (fault, code, calls) => {
      upstream.transcriptions.alwaysFault(fault)
      const before = upstream.requests.length
      const error = await refusalOf(ask({ stream: true }))
      expect(error).toMatchObject({ status: 502, type: 'upstream_error', code, param: null })
      expect(error.headers?.get('x-should-retry')).toBe('false')
      expect(error.message).not.toContain('SECRET')
      expect(upstream.requests.length - before).toBe(calls)
    },
    60_000,
  )

  test('a transcription that is not configured is a 502, channel_unavailable', async () => {
    await using deaf = await startApp({ env: { MB_ASR_KIND: 'none' } })
    const error = await refusalOf(hear(openAiClient(deaf, await deaf.key()), SOUND))
    expect(error).toMatchObject({ status: 502, code: 'channel_unavailable' })
  })
})
