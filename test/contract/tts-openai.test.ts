import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { createOpenAiTts } from '../../src/channels/openai/tts.ts'
import { createUpstreamFetch } from '../../src/upstream/net/upstream-call.ts'
import { retryTts } from '../../src/upstream/resilience/retry.ts'
import { codecs, listen, patientClock } from '../support/speech-codecs.ts'
import { refusedUrl, startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream

beforeAll(async () => {
  upstream = await startUpstream()
})
afterEach(() => upstream.reset())
afterAll(() => upstream.stop())

const createTts = (options: { voice?: string; model?: string; baseUrl?: string } = {}) =>
  createOpenAiTts({
    baseUrl: upstream.baseUrl,
    apiKey: 'sk-test',
    model: 'tts-1',
    voice: '',
    fetch: createUpstreamFetch(fetch),
    clock: patientClock().clock,
    codecs,
    ...options,
  })
const bodies = (count: number) => upstream.requests.slice(-count).map(({ body }) => body)

describe('what is asked for', () => {
  test('speech is asked for as streamed samples at the assumed rate', async () => {
    upstream.speech.reply({ rate: 24_000, ms: 100 })
    const heard = await listen(createTts())
    expect([heard.rate, heard.pcm.length]).toEqual([24_000, 4_800])
    expect(bodies(1)[0]).toMatchObject({
      model: 'tts-1',
      input: '你好',
      voice: 'alloy',
      response_format: 'pcm',
      stream: true,
      sample_rate: 24_000,
    })
  })

  test.each([
    ['tts-1', '', 'female-shaonv', 'alloy'],
    ['kokoro', '', 'female-shaonv', 'zf_xiaoxiao'],
    ['FunAudioLLM/CosyVoice2-0.5B', '', 'female-shaonv', 'FunAudioLLM/CosyVoice2-0.5B:anna'],
    ['cosyvoice-v2', '', 'female-shaonv', 'longxiaochun'],
    ['kokoro', 'zm_yunxi', 'female-shaonv', 'zm_yunxi'],
    ['kokoro', 'zm_yunxi', 'af_heart+af_sky', 'af_heart+af_sky'],
  ])('model %s, setting "%s": %s is spoken by %s', async (model, voice, asked, spoken) => {
    await listen(createTts({ model, voice }), { voice: asked })
    expect(bodies(1)[0]?.voice).toBe(spoken)
  })

  test('a base URL with a path, a query and slashes keeps its path', async () => {
    await listen(createTts({ baseUrl: `${upstream.baseUrl}//?tenant=1` }))
    expect(upstream.requests.at(-1)?.path).toBe('/audio/speech')
  })
})

describe('servers with their own mind', () => {
  const complain = (message: string) => ({ body: JSON.stringify({ detail: { message } }) })

  test('a strict speech server is asked without unknown fields from then on', async () => {
    const tts = createTts()
    upstream.speech.fault(422, complain('Unexpected field: sample_rate'))
    await listen(tts)
    await listen(tts)
    expect(bodies(3).map((body) => 'sample_rate' in body || 'stream' in body)).toEqual([
      true,
      false,
      false,
    ])
  })

  test('a voice that the speech server does not have is replaced by the standard', async () => {
    upstream.speech.fault(400, complain('Voice nobody not found. Available voices: ...'))
    await listen(createTts({ voice: 'mine' }), { voice: 'nobody' })
    expect(bodies(2).map((body) => body.voice)).toEqual(['nobody', 'mine'])
  })

  test('a speech server may refuse both a field and a voice', async () => {
    upstream.speech.fault(400, complain('extra fields not permitted'))
    upstream.speech.fault(404, complain('unknown voice'))
    expect((await listen(createTts(), { voice: 'nobody' })).pcm.length).toBeGreaterThan(0)
  })

  test('a speech server that keeps refusing is asked three times at most', async () => {
    const before = upstream.requests.length
    upstream.speech.alwaysFault(400, complain('stream and voice are wrong SECRET'))
    const failure = await listen(createTts(), { voice: 'nobody' }).catch((error: unknown) => error)
    expect(failure).toMatchObject({ reason: 'upstream_4xx', status: 400 })
    expect(JSON.stringify(failure)).not.toContain('SECRET')
    expect(upstream.requests.length - before).toBe(3)
  })

  test('a wav in place of samples is read by its header', async () => {
    upstream.speech.reply({ format: 'wav', rate: 22_050, ms: 100 })
    expect((await listen(createTts())).rate).toBe(22_050)
  })
})

describe('faults', () => {
  test.each([
    [401, 'upstream_4xx', false],
    [408, 'retry_exhausted', true],
    [429, 'retry_exhausted', true],
    [500, 'upstream_5xx', true],
    ['reset', 'retry_exhausted', true],
    ['redirect', 'provider_error', false],
    ['html', 'provider_error', false],
  ] as const)('%s is %s', async (fault, reason, retryable) => {
    upstream.speech.fault(fault)
    await expect(listen(createTts())).rejects.toMatchObject({ reason, retryable })
  })

  test('a speech server that refuses the connection is a failure', async () => {
    const baseUrl = await refusedUrl()
    await expect(listen(createTts({ baseUrl }))).rejects.toMatchObject({
      reason: 'retry_exhausted',
      phrase: 'connection failed',
    })
  })

  const SILENCES = ['silent', 'stall'] as const
  test.each(SILENCES)('a speech server that is %s is given up without a retry', async (fault) => {
    upstream.speech.fault(fault)
    const { clock, expire } = patientClock()
    const tts = createOpenAiTts({
      ...{ baseUrl: upstream.baseUrl, apiKey: '', model: 'm', voice: '' },
      ...{ fetch: createUpstreamFetch(fetch), clock, codecs },
    })
    const answer = listen(tts)
    const failed = answer.catch((error: unknown) => error)
    const left = upstream.aborts()
    while (upstream.requests.at(-1)?.body.model !== 'm') await upstream.nextRequest()
    // The headers of the stalled answer may still be on their way.
    const nudge = setInterval(expire, 20)
    expect(await failed).toMatchObject({ name: 'ChannelFailure', retryable: false })
    clearInterval(nudge)
    await upstream.aborted(left + 1)
  })

  test('a busy speech server is asked three times, after the wait it names', async () => {
    const { clock, waits } = patientClock()
    upstream.speech.fault(429, { retryAfter: '2' })
    upstream.speech.fault(503, { retryAfter: '600' })
    upstream.speech.fault(500)
    const before = upstream.requests.length
    await expect(listen(retryTts(createTts(), clock))).rejects.toMatchObject({ status: 500 })
    expect(waits).toEqual([2_000, 5_000])
    expect(upstream.requests.length - before).toBe(3)
  })

  test('speech that has begun is not retried', async () => {
    upstream.speech.reply({ ms: 2_000, cutAfter: 3 })
    const before = upstream.requests.length
    const answer = listen(retryTts(createTts(), patientClock().clock))
    await expect(answer).rejects.toMatchObject({ reason: 'provider_error' })
    expect(upstream.requests.length - before).toBe(1)
  })

  test.each(['ftp://x', 'nonsense'])('the speech base URL %s is refused', async (baseUrl) => {
    await expect(listen(createTts({ baseUrl }))).rejects.toMatchObject({
      reason: 'channel_unavailable',
    })
  })
})
