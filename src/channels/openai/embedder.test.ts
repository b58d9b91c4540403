import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { refusedUrl, startUpstream, type Upstream } from '../../../test/support/upstream.ts'
import { hashVector } from '../../../test/support/upstream-embeddings.ts'
import { systemClock } from '../../core/clock.ts'
import { createUpstreamFetch } from '../../upstream/net/upstream-call.ts'
import { ChannelFailure } from '../../upstream/ports/failure.ts'
import { createOpenAiEmbedder, type OpenAiEmbedderOptions, readVectors } from './embedder.ts'

let upstream: Upstream
beforeAll(async () => {
  upstream = await startUpstream()
})
afterEach(() => upstream.reset())
afterAll(() => upstream.stop())

/** Waits of back-off pass at once and are noted down. */
function create(options: Partial<OpenAiEmbedderOptions> = {}) {
  const waits: number[] = []
  const sleep = async (ms: number) => void waits.push(ms)
  const embedder = createOpenAiEmbedder({
    fetch: createUpstreamFetch(fetch),
    clock: { ...systemClock(), sleep },
    baseUrl: upstream.baseUrl,
    apiKey: 'sk-mine',
    model: 'fake-embed',
    timeoutMs: 2_000,
    ...options,
  })
  return { embedder, waits }
}

const requests = () => upstream.requests.filter(({ path }) => path === '/embeddings')

async function failureOf(work: Promise<unknown>): Promise<ChannelFailure> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(ChannelFailure)
  const failure = error as ChannelFailure
  expect(`${failure.message} ${failure.phrase}`).not.toMatch(/SECRET|sk-|127\.0\.0\.1/)
  return failure
}

describe('vectors', () => {
  test('vectors come in the order of the texts, however the answer orders them', async () => {
    upstream.embeddings.reply({ reversed: true })
    const vectors = await create().embedder.embed(['甲', '乙', '丙'], 'passage')
    for (const [i, text] of ['甲', '乙', '丙'].entries()) {
      expect(vectors[i]?.[0]).toBeCloseTo(hashVector(text, 64)[0] ?? 9, 5)
    }
  })

  test('vectors have the length that the endpoint gives them', async () => {
    upstream.embeddings.reply({ dimensions: 1536 })
    const [vector] = await create().embedder.embed(['甲'], 'query')
    expect(vector).toHaveLength(1536)
  })

  test('vectors of many texts take several requests with the key and the model', async () => {
    const start = requests().length
    const texts = Array.from({ length: 23 }, (_, i) => `text ${i}`)
    expect(await create().embedder.embed(texts, 'passage')).toHaveLength(23)
    const sent = requests().slice(start)
    expect(sent.map(({ body }) => (body.input as string[]).length)).toEqual([10, 10, 3])
    expect(sent[0]?.headers.authorization).toBe('Bearer sk-mine')
    expect(sent[0]?.body.model).toBe('fake-embed')
  })

  test('vectors without a model use the first listed embedding model', async () => {
    await create({ model: null }).embedder.embed(['甲'], 'query')
    expect(requests().at(-1)?.body.model).toBe('fake-embed')
  })
})

describe('faults', () => {
  test('a busy or broken embedding endpoint is asked again twice', async () => {
    upstream.embeddings.fault(503)
    upstream.embeddings.fault(429, { retryAfter: '2' })
    const { embedder, waits } = create()
    expect(await embedder.embed(['甲'], 'query')).toHaveLength(1)
    expect(waits).toEqual([250, 2000])
    upstream.embeddings.alwaysFault('reset')
    const again = create()
    expect((await failureOf(again.embedder.embed(['甲'], 'query'))).reason).toBe('retry_exhausted')
    expect(again.waits).toEqual([250, 1000])
  })

  const rows = [
    [401, 'upstream_4xx'],
    [404, 'upstream_4xx'],
    ['redirect', 'provider_error'],
    ['html', 'provider_error'],
  ] as const
  for (const [fault, reason] of rows) {
    test(`the embedding fault ${fault} is ${reason}, and not asked again`, async () => {
      const start = requests().length
      upstream.embeddings.fault(fault)
      const failure = await failureOf(create().embedder.embed(['甲'], 'query'))
      expect(failure.reason).toBe(reason)
      expect(requests()).toHaveLength(start + 1)
    })
  }

  test('a silent or refused embedding connection is a failure', async () => {
    upstream.embeddings.alwaysFault('silent')
    const silent = create({ timeoutMs: 100 }).embedder.embed(['甲'], 'query')
    expect((await failureOf(silent)).phrase).toBe('timed out')
    const refused = create({ baseUrl: await refusedUrl() }).embedder.embed(['甲'], 'query')
    expect((await failureOf(refused)).phrase).toBe('connection failed')
  })

  test('an aborted embedding has the reason of its caller, a closed one ends', async () => {
    upstream.embeddings.alwaysFault('silent')
    const abort = new AbortController()
    const first = create().embedder.embed(['甲'], 'query', abort.signal)
    abort.abort(new Error('left'))
    await expect(first).rejects.toThrow('left')
    const { embedder } = create()
    const second = embedder.embed(['甲'], 'query')
    await embedder.close()
    await expect(second).rejects.toThrow('shut down')
  })
})

describe('reading an answer', () => {
  const answer = (...data: unknown[]) => JSON.stringify({ data })

  test('vectors are read from base64 and without indexes, and become unit vectors', () => {
    const bytes = Buffer.from(Float32Array.of(3, 4).buffer).toString('base64')
    const both = answer({ embedding: bytes }, { embedding: [0, 2] })
    const [a, b] = readVectors(both, 2).vectors
    expect([...(a ?? [])].map((x) => Math.round(x * 10))).toEqual([6, 8])
    expect([...(b ?? [])]).toEqual([0, 1])
  })

  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  const broken: [string, string][] = [
    ['no JSON', 'oops'],
    ['no data', '{}'],
    [
      'what nests without end',
      answer({ embedding: [1] }, { embedding: [1] }).replace('{', `{"x":${nested(200_000)},`),
    ],
    ['too few', answer({ embedding: [1] })],
    ['uneven lengths', answer({ embedding: [1] }, { embedding: [1, 2] })],
    ['an empty vector beside another', answer({ embedding: [1] }, { embedding: '' })],
    ['an index from outside', answer({ embedding: [1] }, { index: 4e9, embedding: [1] })],
    ['a negative index', answer({ embedding: [1] }, { index: -1, embedding: [1] })],
    ['the same index twice', answer({ index: 0, embedding: [1] }, { index: 0, embedding: [1] })],
    ['numbers out of range', answer({ embedding: [1e39] }, { embedding: [1] })],
    ['words for numbers', answer({ embedding: ['1'] }, { embedding: [1] })],
    ['half a number', answer({ embedding: 'AAAA' }, { embedding: [1] })],
  ]
  for (const [name, text] of broken) {
    test(`an embedding answer is refused: ${name}`, () => {
      expect(() => readVectors(text, 2)).toThrow(ChannelFailure)
    })
  }
})
