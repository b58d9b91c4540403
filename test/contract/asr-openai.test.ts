import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { createOpenAiAsr } from '../../src/channels/openai/asr.ts'
import { createUpstreamFetch } from '../../src/upstream/net/upstream-call.ts'
import { retryAsr } from '../../src/upstream/resilience/retry.ts'
import { tone, wav } from '../support/recordings.ts'
import { codecs, patientClock } from '../support/speech-codecs.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream

beforeAll(async () => {
  upstream = await startUpstream()
})
afterEach(() => upstream.reset())
afterAll(() => upstream.stop())

const createAsr = (clock = patientClock().clock) =>
  createOpenAiAsr({
    baseUrl: upstream.baseUrl,
    apiKey: '',
    model: 'whisper-large-v3',
    fetch: createUpstreamFetch(fetch),
    clock,
    codecs,
  })
const clip = { bytes: wav(16_000, tone(16_000, 0.2)), tenantId: 't' }
const { signal } = new AbortController()

test('recognition sends file, model and guidance, and no key when there is none', async () => {
  await createAsr().transcribe(clip, signal)
  const { form, headers } = upstream.requests.at(-1) ?? {}
  expect(headers?.authorization).toBeUndefined()
  expect([...(form?.keys() ?? [])].toSorted()).toEqual([
    'file',
    'language',
    'model',
    'prompt',
    'response_format',
    'temperature',
  ])
})

test('a recogniser that refuses extra fields is asked without them from then on', async () => {
  const asr = createAsr()
  upstream.transcriptions.fault(400, { body: '{"code":20012,"message":"prompt not supported"}' })
  upstream.transcriptions.always({ text: '好' })
  expect(await asr.transcribe(clip, signal)).toEqual({ text: '好' })
  await asr.transcribe(clip, signal)
  const keys = upstream.requests.slice(-2).map(({ form }) => [...(form?.keys() ?? [])])
  expect(keys).toEqual([
    ['file', 'model'],
    ['file', 'model'],
  ])
})

test('a recording of an unknown kind is sent with a common file name', async () => {
  await createAsr().transcribe({ bytes: Buffer.from('??'), tenantId: 't' }, signal)
  const file = upstream.requests.at(-1)?.form?.get('file') as File
  expect([file.name, await file.text()]).toEqual(['audio.wav', '??'])
})

describe('faults', () => {
  test.each([
    [401, 'upstream_4xx'],
    [404, 'upstream_4xx'],
    [429, 'retry_exhausted'],
    [500, 'upstream_5xx'],
    ['reset', 'retry_exhausted'],
    ['html', 'provider_error'],
    ['redirect', 'provider_error'],
  ] as const)('%s is %s', async (fault, reason) => {
    upstream.transcriptions.fault(fault)
    await expect(createAsr().transcribe(clip, signal)).rejects.toMatchObject({ reason })
  })

  const NESTED = `{"text":"x","more":${'['.repeat(200_000)}${']'.repeat(200_000)}}`
  test.each(['{}', '{"text":5}', 'null', '"x"', '{"text":"cut', NESTED])(
    'a recognition answer of %s is malformed',
    async (body) => {
      upstream.transcriptions.fault(200, { body })
      await expect(createAsr().transcribe(clip, signal)).rejects.toMatchObject({
        reason: 'provider_error',
        phrase: 'malformed transcription',
      })
    },
  )

  test('an endless recognition answer is given up', async () => {
    upstream.transcriptions.fault(200, { body: `{"text":"${'x'.repeat(2 * 1024 * 1024)}"}` })
    await expect(createAsr().transcribe(clip, signal)).rejects.toMatchObject({
      phrase: 'answer too large',
    })
  })

  test('recognition asks again after a transient failure', async () => {
    const { clock, waits } = patientClock()
    upstream.transcriptions.fault('reset')
    upstream.transcriptions.fault(503)
    upstream.transcriptions.reply({ text: '好' })
    expect(await retryAsr(createAsr(), clock).transcribe(clip, signal)).toEqual({ text: '好' })
    expect(waits).toEqual([250, 1_000])
  })

  test('an aborted recognition rejects with the reason of the signal', async () => {
    const gone = new AbortController()
    upstream.transcriptions.fault('silent')
    const answer = createAsr().transcribe(clip, gone.signal)
    const count = upstream.requests.length
    while (upstream.requests.length === count) await upstream.nextRequest()
    gone.abort(new Error('left'))
    await expect(answer).rejects.toThrow('left')
  })
})
