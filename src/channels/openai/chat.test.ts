import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { collect, createChat, REQUEST } from '../../../test/support/chat.ts'
import { startUpstream, type Upstream } from '../../../test/support/upstream.ts'
import { HELD_STEP_BYTES } from '../../upstream/ports/llm.ts'

let upstream: Upstream
beforeAll(async () => {
  upstream = await startUpstream()
})
afterAll(() => upstream.stop())
beforeEach(() => upstream.reset())

const chat = (options = {}) => createChat(upstream.baseUrl, options)

describe('a good answer', () => {
  test('an answer gives its text, usage and finish', async () => {
    upstream.reply({ pieces: ['你', '好', '！'], usage: { input: 12, output: 3 } })
    const { parts, error } = await collect(chat())
    expect(error).toBeNull()
    const used = { inputTokens: 12, outputTokens: 3 }
    expect(parts).toEqual([
      { type: 'text', text: '你' },
      { type: 'text', text: '好' },
      { type: 'text', text: '！' },
      { type: 'finish', reason: 'stop', model: 'fake', usage: used },
    ])
  })

  test('the text of an answer leaves as it arrives', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    upstream.reply({ pieces: ['first', 'second'], hold: { after: 1, until: promise } })
    const stream = await chat().open(REQUEST, new AbortController().signal)
    const seen: string[] = []
    for await (const parts of stream) {
      for (const part of parts) seen.push(part.type === 'text' ? part.text : part.type)
      if (seen.length === 1) resolve()
    }
    expect(seen).toEqual(['first', 'second', 'finish'])
  })

  const framings = {
    CRLF: { lineEnd: '\r\n' },
    CR: { lineEnd: '\r' },
    'comment lines': { comments: true },
    'characters and lines split between reads': { splitBytes: 5 },
    'another content type': { contentType: 'application/octet-stream' },
    'no [DONE]': { done: false },
    '[DONE] but no finish reason': { finish: null },
    'reasoning beside it': { reasoning: '先想一想' },
    'no usage': { usage: null },
  } as const
  for (const [name, framing] of Object.entries(framings)) {
    test(`an answer is read whole with ${name}`, async () => {
      upstream.reply({ text: '你好，世界。Ünïcödé 🚀!', ...framing })
      const { text, finish, error } = await collect(chat())
      expect([error, text, finish?.reason]).toEqual([null, '你好，世界。Ünïcödé 🚀!', 'stop'])
      expect(finish?.usage ?? null).toEqual(
        'usage' in framing ? null : { inputTokens: 11, outputTokens: 7 },
      )
    })
  }

  for (const [given, reason] of [
    ['stop', 'stop'],
    ['length', 'length'],
    ['content_filter', 'content_filter'],
    ['moderated', 'other'],
  ] as const) {
    test(`the finish reason ${given} is read as ${reason}`, async () => {
      upstream.reply({ text: 'a', finish: given })
      expect((await collect(chat())).finish?.reason).toBe(reason)
    })
  }

  test('a connection that breaks after the finish is no fault', async () => {
    upstream.fault('cut', { after: 5 })
    const { text, finish, error } = await collect(chat())
    expect([error, text, finish?.reason]).toEqual([null, 'one two three four ', 'stop'])
  })

  test('a chat upstream that stays open after [DONE] is left', async () => {
    upstream.reply({ text: 'hi', keepOpen: true })
    expect((await collect(chat())).text).toBe('hi')
    await upstream.aborted()
  })

  test('a stream that brings nothing for too long is a fault', async () => {
    const nothing = { choices: [], padding: ' '.repeat(1_000_000) }
    const payloads = Array.from({ length: 70 }, () => nothing)
    upstream.reply({ payloads, keepOpen: true })
    const { error } = await collect(chat())
    expect(error).toMatchObject({ reason: 'provider_error', phrase: 'stream without content' })
    await upstream.aborted()
  })

  test('the connection of a chat request is used again', async () => {
    const llm = chat()
    const before = upstream.connections()
    for (let n = 0; n < 3; n++) await collect(llm)
    expect(upstream.connections()).toBeLessThanOrEqual(before + 1)
    expect(upstream.aborts()).toBe(0)
  })

  test('a leading think block is taken out', async () => {
    upstream.reply({ text: '\n<think>\n1 < 2\n</think>\n\n答案是 <think>42</think>' })
    expect((await collect(chat())).text).toBe('答案是 <think>42</think>')
  })
})

describe('an answer that comes faster than it is parsed', () => {
  const lines = Array.from({ length: 400 }, () => `: ${'x'.repeat(1_000)}`)
  const pieces = Array.from({ length: 2_000 }, (_, n) => `${n} `)

  test('a fast answer waits before each further piece, and loses nothing', async () => {
    let turns = 0
    const inTurn = <Result>(work: () => Promise<Result>) => {
      turns += 1
      return work()
    }
    upstream.reply({ prelude: lines, pieces })
    const { text, finish } = await collect(chat({ inTurn }))
    expect(text).toBe(pieces.join(''))
    expect(finish).toBeDefined()
    expect(turns).toBeGreaterThanOrEqual(400_000 / (32 * 1024))
  })

  test('an answer of usual length waits for no turn', async () => {
    const inTurn = () => Promise.reject(new Error('waited'))
    upstream.reply({ pieces: ['a', 'b'] })
    expect((await collect(chat({ inTurn }))).text).toBe('ab')
  })
})

describe('held parts', () => {
  const heldBytes = async (payloads: readonly string[]) => {
    upstream.reply({ payloads })
    const { parts, finish } = await collect(chat())
    expect(finish).toBeDefined()
    return parts.map((part) => (part.type === 'held' ? part.bytes : 0))
  }
  const delta = (fields: object, finish: string | null = null) =>
    JSON.stringify({ choices: [{ index: 0, delta: fields, finish_reason: finish }] })
  const STOP = delta({}, 'stop')

  test('an event that comes in many reads counts as held until it is whole', async () => {
    upstream.reply({ pieces: ['长'.repeat(100_000)], splitBytes: 50_000 })
    const { parts, text } = await collect(chat())
    expect(text).toHaveLength(100_000)
    const held = parts.flatMap((part) => (part.type === 'held' ? [part.bytes] : []))
    expect(Math.max(...held)).toBeGreaterThan(100_000)
    expect(held.at(-1)).toBe(0)
  })

  test('the arguments of a tool call count as held', async () => {
    const call = (args: string) =>
      delta({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: args } }] })
    const held = await heldBytes([call('x'.repeat(50_000)), call('x'.repeat(50_000)), STOP])
    expect(Math.max(...held)).toBeGreaterThanOrEqual(200_000 - HELD_STEP_BYTES)
  })

  test('a think block counts as held', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const pieces = [`<think>${'x'.repeat(50_000)}`, '</think>42']
    upstream.reply({ pieces, hold: { after: 1, until: promise } })
    const atLeast = 100_000 - HELD_STEP_BYTES
    let most = 0
    for await (const parts of await chat().open(REQUEST, new AbortController().signal)) {
      for (const part of parts) if (part.type === 'held') most = Math.max(most, part.bytes)
      if (most >= atLeast) resolve()
    }
    expect(most).toBeGreaterThanOrEqual(atLeast)
  })

  test('what the runtime has read ahead of the parser counts as held', async () => {
    const flood = `${': x\n\n'.repeat(100_000)}data: ${delta({ content: 'a' }, 'stop')}\n\n`
    const answered = async () =>
      new Response(
        new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode(flood))
            controller.close()
          },
        }),
      )
    const fetch = Object.assign(answered, { unpacks: false } as const)
    const { parts, text } = await collect(chat({ fetch }))
    const held = parts.flatMap((part) => (part.type === 'held' ? [part.bytes] : []))
    expect(text).toBe('a')
    expect(Math.max(...held)).toBeGreaterThan(1_000_000)
  })

  test('an answer of usual pieces reports nothing held', async () => {
    const held = await heldBytes([delta({ content: 'a' }), delta({ content: 'b' }), STOP])
    expect(held.every((bytes) => bytes === 0)).toBe(true)
  })
})

describe('the request', () => {
  test('a chat request goes to the path below the base URL, with key and headers', async () => {
    await collect(createChat(`${upstream.baseUrl}//`, { apiKey: 'sk-mine' }))
    const { path, headers } = await upstream.nextRequest()
    expect(path).toBe('/chat/completions')
    expect(headers).toMatchObject({
      authorization: 'Bearer sk-mine',
      accept: 'text/event-stream',
      'accept-encoding': 'identity',
      'content-type': 'application/json',
    })
  })

  test('a chat request without a key sends no authorization', async () => {
    await collect(chat({ apiKey: '' }))
    expect((await upstream.nextRequest()).headers.authorization).toBeUndefined()
  })

  test('a chat request carries only the requested fields', async () => {
    await collect(chat(), { ...REQUEST, model: 'gpt-x' })
    expect((await upstream.nextRequest()).body).toEqual({
      model: 'gpt-x',
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: 'user', content: 'hi' }],
    })
  })

  test('a chat request without a model takes the default model', async () => {
    await collect(chat({ defaultModel: 'house' }))
    expect((await upstream.nextRequest()).body.model).toBe('house')
  })
})

describe('a model nobody named', () => {
  test('the first listed chat model is used without a default, and looked up once', async () => {
    upstream.models.always({ ids: ['text-embedding-3-small', 'bge-m3:latest', 'qwen3:4b', 'x'] })
    const llm = chat({ defaultModel: null })
    for (let n = 0; n < 2; n++) expect((await collect(llm)).error).toBeNull()
    expect(upstream.requests.map(({ path, body }) => [path, body.model])).toEqual([
      ['/models', undefined],
      ['/chat/completions', 'qwen3:4b'],
      ['/chat/completions', 'qwen3:4b'],
    ])
  })

  test('a chat request names no model where models are not listed', async () => {
    upstream.models.fault(404)
    expect((await collect(chat({ defaultModel: null }))).error).toBeNull()
    expect(upstream.requests.at(-1)?.body).not.toHaveProperty('model')
  })

  test('a failing model list fails the chat request, and is requested again', async () => {
    const llm = chat({ defaultModel: null })
    upstream.models.fault(503)
    const { failure } = await collect(llm)
    expect([failure?.reason, failure?.retryable]).toEqual(['upstream_5xx', true])
    expect((await collect(llm)).error).toBeNull()
  })
})

describe('fields an upstream does not know', () => {
  test('unknown fields of an upstream are left out at the retry and from then on', async () => {
    const body = JSON.stringify({ error: { message: 'Unrecognized argument: stream_options' } })
    upstream.fault(400, { body })
    const llm = chat()
    for (let n = 0; n < 2; n++) expect((await collect(llm)).text).toBe('好的')
    expect(upstream.requests.map(({ body }) => 'stream_options' in body)).toEqual([
      true,
      false,
      false,
    ])
  })

  test('a wish that an upstream refuses is left out of that request alone', async () => {
    upstream.fault(400, { body: 'presence_penalty is not supported' })
    const llm = chat()
    const request = { ...REQUEST, sampling: { presencePenalty: 1, seed: 7 } }
    for (let n = 0; n < 2; n++) expect((await collect(llm, request)).error).toBeNull()
    const sent = upstream.requests.map(({ body }) => [body.presence_penalty, body.seed])
    expect(sent).toEqual([
      [1, 7],
      [undefined, 7],
      [1, 7],
    ])
  })

  test('an answer may be empty where the caller is told that it was cut', async () => {
    upstream.chat.always({ text: '', finish: 'length' })
    const cut = await collect(chat(), { ...REQUEST, sampling: { maxTokens: 1 } })
    expect([cut.error, cut.finish?.reason]).toEqual([null, 'length'])
    expect((await collect(chat())).failure?.phrase).toBe('empty answer')
  })

  test('unknown fields of an upstream are discovered once only', async () => {
    const body = 'thinking is not supported'
    for (let n = 0; n < 3; n++) upstream.fault(400, { body })
    const { failure } = await collect(chat({ defaultModel: 'glm-4' }))
    expect(failure?.reason).toBe('upstream_4xx')
    expect(upstream.requests).toHaveLength(2)
  })
})
