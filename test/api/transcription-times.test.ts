import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type OpenAI from 'openai'
import { startApp, type TestApp } from '../support/app.ts'
import { flac } from '../support/flac.ts'
import { hear, openAiClient, refusalOf } from '../support/openai-client.ts'
import { mp3, opus, tone, wav } from '../support/recordings.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'
import { frame, startWyoming } from '../support/upstream-wyoming.ts'

let upstream: Upstream
let app: TestApp
let client: OpenAI
beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({ env: { MB_ASR_BASE_URL: upstream.baseUrl } })
  client = openAiClient(app, await app.key())
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

const SOUND = wav(16_000, tone(16_000, 1.5))
const sent = (name: string) => upstream.requests.at(-1)?.form?.getAll(name)

describe('a recogniser without times', () => {
  test('a recogniser without times gives one segment as long as the recording', async () => {
    const samples = tone(48_000, 1.5)
    const recordings: Record<string, Uint8Array> = {
      wav: wav(48_000, samples),
      streamed: wav(48_000, samples, { dataSize: 0xffff_ffff }),
      mp3: await mp3(48_000, samples),
      flac: flac(samples),
      ogg: await opus('ogg', samples),
      webm: await opus('webm', samples),
      m4a: await opus('m4a', samples),
    }
    for (const [name, bytes] of Object.entries(recordings)) {
      upstream.transcriptions.reply({ text: '好' })
      const verbose = (await hear(client, bytes, { response_format: 'verbose_json' })) as {
        duration: number
        segments: object[]
      }
      expect({ name, ok: Math.abs(verbose.duration - 1.5) < 0.1 }).toEqual({ name, ok: true })
      expect(verbose.segments).toMatchObject([{ start: 0, end: verbose.duration, text: '好' }])
      expect(verbose).toMatchObject({ language: '' })
    }
  })

  test('a recogniser without times gives subtitles of one cue, and none for silence', async () => {
    upstream.transcriptions.reply({ text: '好' })
    const srt = await hear(client, SOUND, { response_format: 'srt' })
    expect(srt).toBe('1\n00:00:00,000 --> 00:00:01,500\n好\n\n')
    upstream.transcriptions.reply({ text: '' })
    expect(await hear(client, SOUND, { response_format: 'vtt' })).toBe('WEBVTT\n\n')
  })

  test('the times of words are refused where the recogniser has none', async () => {
    const fields = { response_format: 'verbose_json', timestamp_granularities: ['word'] }
    upstream.transcriptions.reply({ text: '好' })
    const param = 'timestamp_granularities[]'
    expect(await refusalOf(hear(client, SOUND, fields))).toMatchObject({ status: 400, param })

    await using wyoming = await startWyoming(({ type }, socket) => {
      if (type === 'audio-stop') socket.write(frame('transcript', { text: '好', language: 'zh' }))
    })
    await using other = await startApp({ env: { MB_ASR_BASE_URL: wyoming.baseUrl } })
    const asker = openAiClient(other, await other.key())
    expect(await refusalOf(hear(asker, SOUND, fields))).toMatchObject({ status: 400, param })
    expect(wyoming.heard).toEqual([])
    const verbose = await hear(asker, SOUND, { response_format: 'verbose_json' })
    expect(verbose).toMatchObject({ text: '好', language: 'zh', duration: 1.5 })
    const asked = wyoming.heard.find(({ type }) => type === 'transcribe')
    expect(asked?.data).toEqual({})
  })

  test('a recogniser that refuses times is asked without them from then on', async () => {
    await using fresh = await startApp({ env: { MB_ASR_BASE_URL: upstream.baseUrl } })
    const asker = openAiClient(fresh, await fresh.key())
    upstream.transcriptions.fault(400, { body: '{"message":"response_format must be json"}' })
    upstream.transcriptions.always({ text: '好' })
    const verbose = await hear(asker, SOUND, { response_format: 'verbose_json', language: 'en' })
    expect(verbose).toMatchObject({ text: '好', language: 'en' })
    expect([sent('response_format'), sent('language')]).toEqual([['json'], ['en']])
    const before = upstream.requests.length
    await hear(asker, SOUND, { response_format: 'srt' })
    expect(upstream.requests.length).toBe(before + 1)
  })
})

test('a hint that the upstream refuses is left out for its caller alone', async () => {
  await using fresh = await startApp({ env: { MB_ASR_BASE_URL: upstream.baseUrl } })
  const owner = await fresh.key()
  upstream.transcriptions.fault(400, { body: '{"message":"language xx is not supported"}' })
  upstream.transcriptions.always({ text: '好' })
  expect(await hear(openAiClient(fresh, owner), SOUND, { language: 'xx' })).toEqual({ text: '好' })
  await fetch(`${fresh.url}/v1/asr`, {
    method: 'POST',
    headers: owner.headers,
    body: SOUND as Uint8Array<ArrayBuffer>,
  })
  expect(sent('language')).toEqual(['zh'])
})
