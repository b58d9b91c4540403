import { describe, expect, test } from 'bun:test'
import { createMiniMaxTts } from '../../src/channels/minimax/tts.ts'
import { createUpstreamFetch } from '../../src/upstream/net/upstream-call.ts'
import { retryTts } from '../../src/upstream/resilience/retry.ts'
import { pcm16, tone } from '../support/recordings.ts'
import { listen, patientClock } from '../support/speech-codecs.ts'
import { startMiniMax } from '../support/upstream-minimax.ts'

const sound = pcm16(tone(32_000, 0.4))
// Pieces of odd length: an event may end inside a sample.
const CHUNKS = [sound.subarray(0, 5_001), sound.subarray(5_001, 5_002), sound.subarray(5_002)]

const createTts = ({ baseUrl }: { readonly baseUrl: string }, voice = '') =>
  createMiniMaxTts({
    baseUrl,
    apiKey: 'sk-mm',
    model: 'speech-test',
    voice,
    fetch: createUpstreamFetch(fetch),
    clock: patientClock().clock,
  })

test('MiniMax is asked for streamed 32 kHz samples with the platform voice', async () => {
  await using upstream = startMiniMax({ chunks: CHUNKS })
  expect(await listen(createTts(upstream))).toEqual({ rate: 32_000, pcm: Buffer.from(sound) })
  const [{ url, headers, body } = expect.unreachable()] = upstream.requests
  expect(url.pathname + url.search).toBe('/v1/t2a_v2?GroupId=42')
  expect(headers.get('authorization')).toBe('Bearer sk-mm')
  expect(body).toMatchObject({
    model: 'speech-test',
    text: '你好',
    stream: true,
    voice_setting: { voice_id: 'female-shaonv' },
    audio_setting: { sample_rate: 32_000, format: 'pcm', channel: 1 },
  })
})

test.each([1, 7, 100_000])('MiniMax events cut every %d bytes lose nothing', async (step) => {
  await using upstream = startMiniMax({ chunks: CHUNKS, step })
  expect((await listen(createTts(upstream))).pcm).toEqual(Buffer.from(sound))
})

test('a last MiniMax event that is the only one is played', async () => {
  await using upstream = startMiniMax({ chunks: [sound], whole: true })
  expect((await listen(createTts(upstream))).pcm).toEqual(Buffer.from(sound))
})

test('a MiniMax stream without its last event is a failure', async () => {
  await using upstream = startMiniMax({ chunks: CHUNKS, cut: true })
  await expect(listen(createTts(upstream))).rejects.toMatchObject({ phrase: 'stream ended early' })
})

describe('a refusal inside HTTP 200', () => {
  test.each([
    [1004, 'provider_error', false],
    [1008, 'provider_error', false],
    [1002, 'retry_exhausted', true],
    [1039, 'retry_exhausted', true],
  ])('MiniMax status_code %d is a failure', async (code, reason, retryable) => {
    for (const whole of [true, false]) {
      await using upstream = startMiniMax({ code, message: 'SECRET text', whole })
      const failure = await listen(createTts(upstream)).catch((error: unknown) => error)
      expect(failure).toMatchObject({ name: 'ChannelFailure', reason, retryable })
      expect(String(failure)).not.toContain('SECRET')
    }
  })

  test('a voice that MiniMax does not have is replaced by the standard one', async () => {
    const refusal = { code: 2054, message: 'voice id not exist', whole: true }
    await using upstream = startMiniMax(refusal, { chunks: CHUNKS })
    const heard = await listen(createTts(upstream, 'my-voice'), { voice: 'nobody' })
    expect(heard.pcm.length).toBe(sound.length)
    const voices = upstream.requests.map(({ body }) => body.voice_setting.voice_id)
    expect(voices).toEqual(['nobody', 'my-voice'])
  })

  test('a rate limit of MiniMax is retried after a wait', async () => {
    await using upstream = startMiniMax({ code: 1002, whole: true }, { chunks: CHUNKS })
    const { clock, waits } = patientClock()
    expect((await listen(retryTts(createTts(upstream), clock))).pcm.length).toBe(sound.length)
    expect(waits).toEqual([250])
  })
})

test.each([
  ['no sound', { chunks: [] }],
  ['an HTTP error', { http: 500 }],
])('a MiniMax answer with %s is a failure', async (_name, answer) => {
  await using upstream = startMiniMax(answer)
  await expect(listen(createTts(upstream))).rejects.toMatchObject({ name: 'ChannelFailure' })
})
