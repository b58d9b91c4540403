import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type OpenAI from 'openai'
import { NotFoundError } from 'openai'
import { dot, normalize } from '../../src/core/vector.ts'
import type { Embedder } from '../../src/upstream/ports/embedder.ts'
import { ChannelFailure, type FailureReason } from '../../src/upstream/ports/failure.ts'
import { type Call, caller } from '../support/api.ts'
import { startApp, type TestApp, type TestKey } from '../support/app.ts'
import { openAiClient, refusalOf } from '../support/openai-client.ts'

let app: TestApp
let key: TestKey
let call: Call
let client: OpenAI
beforeAll(async () => {
  app = await startApp()
  key = await app.key()
  call = caller(app.url, key.headers)
  client = openAiClient(app, key)
})
afterAll(() => app[Symbol.asyncDispose]())

const MODEL = 'static-zh-en-767'
const TEXTS = ['如何重置密码？', 'The quick brown fox.', '天']
const post = (body: unknown) => call<OpenAI.CreateEmbeddingResponse>('POST', '/v1/embeddings', body)

const embed = (asker: OpenAI, model = MODEL) => asker.embeddings.create({ model, input: 'a' })

const vectorOf = async (input: string) =>
  Float32Array.from((await post({ input })).json().data[0]?.embedding ?? [])

describe('embeddings', () => {
  test('embeddings of the OpenAI client, which asks for base64, are those of float', async () => {
    const usual = await client.embeddings.create({ model: MODEL, input: TEXTS })
    const float = await client.embeddings.create({
      model: 'moonbase-embedding',
      input: TEXTS,
      encoding_format: 'float',
    })
    expect(usual).toMatchObject({ object: 'list', model: MODEL, usage: float.usage })
    expect(usual.data.map(({ index }) => index)).toEqual([0, 1, 2])
    for (const [i, { object, embedding }] of usual.data.entries()) {
      const other = float.data[i]?.embedding ?? []
      expect([object, embedding.length, other.length]).toEqual(['embedding', 767, 767])
      const apart = embedding.map((x, d) => Math.abs(x - (other[d] ?? 9)))
      expect(Math.max(...apart)).toBeLessThan(1e-6)
      expect(dot(Float32Array.from(embedding), Float32Array.from(embedding))).toBeCloseTo(1, 5)
    }
  })

  test('embeddings count the tokens that the model reads', async () => {
    const tokens = async (input: unknown) => (await post({ input })).json().usage
    expect(await tokens('天地玄黄')).toEqual({ prompt_tokens: 4, total_tokens: 4 })
    expect((await tokens(['天地玄黄', '天'])).prompt_tokens).toBe(5)
    expect((await tokens('天地玄黄'.repeat(1_000))).prompt_tokens).toBe(4_000)
  })

  test('embeddings of 256 texts come in the order of the texts', async () => {
    const input = Array.from({ length: 256 }, (_, i) => `第${i}条：${'规定'.repeat(i % 40)}`)
    const { data } = (await post({ input })).json()
    expect(data.map(({ index }) => index)).toEqual(input.map((_, i) => i))
    for (const i of [0, 39, 255]) {
      const alone = await vectorOf(input[i] ?? '')
      expect(dot(alone, Float32Array.from(data[i]?.embedding ?? []))).toBeCloseTo(1, 4)
    }
  })

  test('embeddings of a text longer than the window are the mean of all of it', async () => {
    const [a, b] = ['密码重置的步骤如下。'.repeat(1_000), '今天的天气很好。'.repeat(1_250)]
    const whole = await vectorOf(a + b)
    const [first, second] = [await vectorOf(a), await vectorOf(b)]
    const mean = normalize(first.map((x, d) => x + (second[d] ?? 0)))
    expect(dot(whole, mean)).toBeGreaterThan(0.98)
    expect(dot(whole, second)).toBeGreaterThan(dot(first, second) + 0.2)
  })

  test('embeddings take a null for a field that is not given', async () => {
    const nothing = { model: null, dimensions: null, encoding_format: null, input_type: null }
    expect((await post({ input: 'x', ...nothing })).status).toBe(200)
    const all = { model: '', dimensions: 767, encoding_format: 'float', input_type: 'query' }
    expect((await post({ input: 'x', ...all })).status).toBe(200)
  })

  test('embeddings leave a row in the log, with the characters of all texts', async () => {
    await post({ input: ['四个汉字', 'four'] })
    await app.flush()
    const { logs } = (await call('GET', '/v1/logs?endpoint=/v1/embeddings&limit=1')).json()
    expect(logs).toMatchObject([
      { endpoint: '/v1/embeddings', status: 200, text_chars: 8, session_id: null, channel: null },
    ])
  })
})

describe('refused embeddings', () => {
  test('the refusal of token ids names the switch of LangChain', async () => {
    expect((await post({ input: [1] })).text).toContain('check_embedding_ctx_length=False')
  })

  const cases: [string, object, param: string, code: string | null][] = [
    ['token ids', { input: [1, 2, 3] }, 'input', 'unsupported_value'],
    ['lists of token ids', { input: [[1], [2]] }, 'input', 'unsupported_value'],
    ['no input', {}, 'input', null],
    ['an empty list', { input: [] }, 'input', null],
    ['an empty text', { input: '' }, 'input', null],
    ['an empty text in a list', { input: ['a', ''] }, 'input[1]', null],
    ['a number in a list', { input: ['a', 1] }, 'input[1]', null],
    ['257 texts', { input: new Array(257).fill('a') }, 'input', null],
    ['400,001 characters', { input: 'a'.repeat(400_001) }, 'input', 'context_length_exceeded'],
    ['another size', { input: 'a', dimensions: 256 }, 'dimensions', 'unsupported_value'],
    ['half a size', { input: 'a', dimensions: 0.5 }, 'dimensions', 'unsupported_value'],
    ['an encoding', { input: 'a', encoding_format: 'b' }, 'encoding_format', 'unsupported_value'],
    ['a kind of text', { input: 'a', input_type: 'b' }, 'input_type', 'unsupported_value'],
  ]
  test.each(cases)('%s is a 400 that names the field', async (_, body, param, code) => {
    const answer = await post(body)
    expect(answer.status).toBe(400)
    const { error } = JSON.parse(answer.text)
    expect(error).toMatchObject({ type: 'invalid_request_error', param, code })
  })

  test('an unknown model is a 404 that the client understands', async () => {
    const error = await refusalOf(embed(client, 'text-embedding-3-small'))
    expect(error).toBeInstanceOf(NotFoundError)
    expect(error).toMatchObject({ code: 'model_not_found', param: 'model' })
  })

  test('a body over 1 MB is a 413, no JSON a 400, a GET a 405', async () => {
    expect(JSON.parse((await post('x'.repeat(1_048_577))).text).error.code).toBe(
      'request_too_large',
    )
    expect(JSON.parse((await post('{')).text).error).toMatchObject({ param: null, code: null })
    const wrong = await call('GET', '/v1/embeddings')
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST'])
  })

  test('a device key is a 403, and no key a 401', async () => {
    const device = await app.key('a@example.com', { deviceId: 'd' })
    const unknown = openAiClient(app, { key: 'sk-mb-none' })
    const asDevice = openAiClient(app, device)
    expect(await refusalOf(embed(asDevice))).toMatchObject({ status: 403, code: 'forbidden' })
    expect(await refusalOf(embed(unknown))).toMatchObject({ status: 401, code: 'invalid_api_key' })
  })

  test('a key over its rate limit is a 429 with Retry-After', async () => {
    const slow = await app.key('b@example.com', { rateLimit: 1 })
    const send = () => caller(app.url, slow.headers)('POST', '/v1/embeddings', { input: 'a' })
    expect((await send()).status).toBe(200)
    const { headers, text } = await send()
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect(headers.get('x-should-retry')).toBeNull()
    const { type, code } = JSON.parse(text).error
    expect([type, code]).toEqual(['rate_limit_error', 'rate_limit_exceeded'])
  })
})

describe('embeddings of a model that fails', () => {
  let reason: FailureReason
  let calls = 0
  const embedder: Embedder = {
    id: 'host.internal:secret-model',
    name: 'bge',
    async embed() {
      calls += 1
      throw new ChannelFailure(reason, 'HTTP 500')
    },
    close: async () => {},
  }

  test.each([
    ['upstream_4xx', 'upstream_4xx'],
    ['upstream_5xx', 'upstream_5xx'],
    ['retry_exhausted', 'retry_exhausted'],
    ['channel_unavailable', 'channel_unavailable'],
    ['provider_error', 'upstream_5xx'],
  ] as const)('that ended with %s are one 502 with the code %s', async (given, code) => {
    await using failing = await startApp({ embedder })
    reason = given
    calls = 0
    const error = await refusalOf(embed(openAiClient(failing, await failing.key()), 'bge'))
    expect(error).toMatchObject({ status: 502, type: 'upstream_error', code, param: null })
    expect(error.message).not.toContain('internal')
    expect(calls).toBe(1)
  })
})
