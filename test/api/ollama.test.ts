import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { type ChatRequest, type Message, Ollama } from 'ollama'
import { startApp, type TestApp } from '../support/app.ts'
import { patientClock } from '../support/clock.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp
beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({ upstream: upstream.baseUrl, clock: patientClock() })
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

const LAMP = {
  type: 'function',
  function: { name: 'turn_on', description: '', parameters: { type: 'object', properties: {} } },
} as const
const sent = () =>
  upstream.requests.filter(({ path }) => path.endsWith('/completions')).map(({ body }) => body)
const HI: Message[] = [{ role: 'user', content: 'hi' }]

async function client(base = `${app.url}/ollama`) {
  const key = await app.key()
  const post = async (path: string, body: object, headers: object = {}) => {
    const response = await fetch(`${base}/api/${path}`, {
      method: 'POST',
      headers: { ...key.headers, ...headers },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    return { status: response.status, lines, body: lines[0], response }
  }
  return { key, post, ollama: new Ollama({ host: base, headers: key.headers }) }
}

describe("Ollama's own client", () => {
  test('lists, shows, pulls and asks whole and in lines', async () => {
    const { ollama } = await client()
    const { models } = await ollama.list()
    expect(models).toMatchObject([
      { name: 'moonbase:latest', model: 'moonbase:latest', digest: expect.any(String) },
    ])
    const shown = await ollama.show({ model: 'moonbase:latest' })
    expect(shown.model_info).toMatchObject({
      'general.basename': 'moonbase',
      'moonbase.context_length': 32_768,
    } as never)
    expect((await ollama.pull({ model: 'moonbase' })).status).toBe('success')

    upstream.reply({ text: '你好' })
    const answer = await ollama.chat({ model: 'moonbase', messages: HI })
    expect(answer).toMatchObject({
      model: 'moonbase:latest',
      message: { role: 'assistant', content: '你好' },
      done: true,
      done_reason: 'stop',
      prompt_eval_count: 11,
      eval_count: 7,
    })
    expect(answer.total_duration).toBeGreaterThan(0)
    upstream.reply({ reasoning: 'hm', pieces: ['你', '好'] })
    const request = { model: 'moonbase', messages: HI, stream: true, think: true } as const
    let [said, thought] = ['', '']
    for await (const part of await ollama.chat(request as ChatRequest & { stream: true })) {
      said += part.message.content
      thought += part.message.thinking ?? ''
    }
    expect([said, thought]).toEqual(['你好', 'hm'])
    upstream.reply({ text: 'Io' })
    const options = { num_predict: 5, seed: 3, num_ctx: 8192 }
    const { response } = await ollama.generate({
      model: '',
      prompt: 'A moon?',
      system: 'S',
      options,
    })
    expect([response, sent().at(-1)]).toMatchObject(['Io', { max_tokens: 5, seed: 3 }])
    const vectors = await ollama.embed({ model: '', input: ['a', 'b'] })
    expect(vectors.embeddings).toHaveLength(2)
  })

  test('tools have arguments as objects, and results need no id', async () => {
    const { ollama } = await client()
    upstream.reply({ toolCalls: [{ name: 'turn_on', arguments: { at: 'hall' } }] })
    const { message } = await ollama.chat({ model: 'moonbase', messages: HI, tools: [LAMP] })
    expect(message.tool_calls).toMatchObject([
      { function: { index: 0, name: 'turn_on', arguments: { at: 'hall' } } },
    ] as never)
    const messages = [...HI, message, { role: 'tool', content: 'on' }]
    await ollama.chat({ model: 'moonbase', messages, tools: [LAMP] })
    const [call, result] = sent().at(-1)?.messages.slice(-2) ?? []
    expect(result).toMatchObject({ role: 'tool', content: 'on' })
    const [made] = (call?.tool_calls ?? []) as { id: string }[]
    expect(made?.id).toBe(result?.tool_call_id as string)
  })

  test('says what is wrong in its own form', async () => {
    const { ollama, post } = await client()
    const error = await ollama.chat({ model: 'llama3:8b', messages: HI }).catch((e) => e)
    expect([error.status_code, error.message]).toEqual([404, "model 'llama3:8b' not found"])
    for (const path of ['generate', 'show', 'pull', 'embed', 'embeddings']) {
      const asked = { model: 'llama3:latest', input: 'a', prompt: 'a' }
      const { status, body } = await post(path, asked)
      expect([path, status, body.error]).toEqual([path, 404, "model 'llama3:latest' not found"])
    }
    expect((await post('push', { model: 'moonbase' })).status).toBe(403)
    expect((await post('generate', { prompt: 'a', suffix: 'b' })).status).toBe(400)
    expect((await post('chat', { messages: HI, format: 'xml' })).status).toBe(400)
    const image = { ...HI[0], images: ['bm8gaW1hZ2U='] }
    expect((await post('chat', { messages: [image] })).status).toBe(400)
    const wrong = await post('chat', { messages: HI }, { authorization: 'Bearer sk-mb-no' })
    expect([wrong.status, typeof wrong.body.error]).toEqual([401, 'string'])
    const missing = await fetch(`${app.url}/ollama/console`, { headers: { accept: 'text/html' } })
    expect([missing.status, await missing.json()]).toEqual([404, { error: expect.any(String) }])
    expect(missing.headers.get('x-moonbase')).toBe('1')
  })
})

describe('what Home Assistant and editors send', () => {
  test('a history that was cut behind a call goes upstream as words', async () => {
    const { post } = await client()
    const { status } = await post('chat', {
      model: 'moonbase:latest',
      messages: [
        { role: 'system', content: 'The house' },
        { role: 'tool', content: 'the lamp is on' },
        { role: 'assistant', tool_calls: null },
        { role: 'user', content: 'and now?' },
      ],
      tools: [LAMP],
      keep_alive: -1,
      options: { num_ctx: 8192 },
      think: false,
    })
    expect(status).toBe(200)
    expect(sent()[0]?.messages).toEqual([
      { role: 'system', content: 'The house' },
      { role: 'user', content: 'the lamp is on' },
      { role: 'user', content: 'and now?' },
    ])
  })

  test('a request that says nothing loads or unloads without a turn', async () => {
    const { post } = await client()
    const loaded = await post('chat', { model: 'moonbase' })
    expect(loaded.body).toMatchObject({ message: { content: '' }, done_reason: 'load' })
    expect((await post('generate', { keep_alive: 0 })).body.done_reason).toBe('unload')
    expect(sent()).toEqual([])
  })

  test('lines end with one that is done, or with an error and nothing after it', async () => {
    const { post } = await client()
    const good = await post('chat', { messages: HI })
    expect(good.response.headers.get('content-type')).toStartWith('application/x-ndjson')
    expect(good.lines.map(({ done }) => done).filter(Boolean)).toHaveLength(1)
    expect(good.lines.at(-1).moonbase.stats).toEqual({ iterations: 1, channel: 'platform' })
    upstream.fault('cut', { after: 2 })
    const { lines } = await post('chat', { messages: HI })
    expect(Object.keys(lines.at(-1))).toEqual(['error'])
    expect(lines.some(({ done }) => done)).toBe(false)
    upstream.fault(400)
    expect((await post('chat', { messages: HI })).status).toBe(502)
  })

  test('the paths of OpenAI and Anthropic hold below the door, with its names', async () => {
    const { key } = await client()
    const ask = (path: string, body?: object) =>
      fetch(`${app.url}${path}`, {
        ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
        headers: key.headers,
      })
    const chat = { model: 'moonbase:latest', messages: HI }
    const answer = await ask('/ollama/v1/chat/completions', chat)
    expect([answer.status, (await answer.json()).model]).toEqual([200, 'moonbase'])
    expect((await ask('/v1/chat/completions', chat)).status).toBe(404)
    expect((await ask('/ollama/v1/messages', { ...chat, max_tokens: 5 })).status).toBe(200)
    expect((await ask('/ollama/v1/models/moonbase:latest')).status).toBe(200)
    const beyond = await ask('/ollama/v1/agent', { text: 'hi' })
    expect([beyond.status, await beyond.json()]).toEqual([404, { error: expect.any(String) }])
  })
})

test('200 polls in a minute leave no row and take no slot, and those above 120 wait', async () => {
  const key = await app.key('polls@example.com', { rateLimit: 2 })
  const poll = (path: string) => fetch(`${app.url}/ollama/api/${path}`, key)
  const statuses: number[] = []
  for (let i = 0; i < 100; i++) {
    statuses.push((await poll('tags')).status, (await poll('ps')).status)
  }
  expect(statuses.filter((status) => status === 200)).toHaveLength(120)
  expect(statuses.slice(120).every((status) => status === 429)).toBe(true)
  const chat = await fetch(`${app.url}/ollama/api/chat`, {
    method: 'POST',
    headers: key.headers,
    body: JSON.stringify({ messages: HI, stream: false }),
  })
  expect([chat.status, chat.headers.get('x-ratelimit-remaining')]).toEqual([200, '1'])
  await app.flush()
  const logs = await fetch(`${app.url}/v1/logs`, key)
  const { logs: rows = [] } = (await logs.json()) as { logs: { endpoint: string }[] }
  expect(rows.map(({ endpoint }) => endpoint)).toEqual(['/ollama/chat'])
})
