import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { startApp } from '../support/app.ts'
import { handClock } from '../support/clock.ts'
import { type Failover, startFailover } from '../support/failover.ts'
import { kbClient } from '../support/kb.ts'
import { startUpstream } from '../support/upstream.ts'

let server: Failover
beforeAll(async () => {
  server = await startFailover()
})
afterEach(() => server.reset())
afterAll(() => server[Symbol.asyncDispose]())

const HI = { messages: [{ role: 'user', content: 'hi' }] }
const ask = (message: object) => ({ messages: [{ role: 'user', content: 'hi', ...message }] })
const sent = () => server.asked(server.platform).map(({ body }) => body)
const tool = (name: string) => ({ type: 'function', function: { name, parameters: null } })

type Headers = Readonly<Record<string, string>>

function callerOf(headers: Headers) {
  const send = (path: string, body: string | object, more: Headers = {}) =>
    fetch(`${server.app.url}/ollama/api/${path}`, {
      method: 'POST',
      headers: { ...headers, ...more },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  return {
    send,
    async post(path: string, body: string | object, more: Headers = {}) {
      const response = await send(path, body, more)
      const lines = (await response.text())
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      return { response, status: response.status, lines, body: lines[0] }
    },
  }
}

async function client(scope = {}) {
  const key = await server.app.key('door@example.com', scope)
  return { key, ...callerOf(key.headers) }
}

describe('hostile bodies', () => {
  const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
  const bodies: Readonly<Record<string, string>> = {
    'no JSON': '{"messages":',
    'no object': '[1]',
    'deep content': `{"messages":[{"role":"user","content":${deep(20_000)}}]}`,
    'a deep schema': `{"messages":[{"role":"user","content":"a"}],"format":{"a":${deep(20_000)}}}`,
    'a number beyond all': '{"messages":[{"role":"user","content":"a"}],"options":{"seed":1e400}}',
    'a role that nobody has': '{"messages":[{"role":"root","content":"a"}]}',
    'an assistant last': '{"messages":[{"role":"assistant","content":"b"}]}',
    'arguments as a text': `{"messages":[{"role":"assistant","tool_calls":[${[
      '{"function":{"name":"a","arguments":"{}"}}',
    ]}]},{"role":"user","content":"a"}]}`,
    'a name with spaces':
      '{"messages":[{"role":"user","content":"a"}],"tools":[{"function":{"name":"a b"}}]}',
    'a link as an image':
      '{"messages":[{"role":"user","content":"a","images":["https://127.0.0.1/a"]}]}',
  }

  test('are refused by 400 with a sentence, and no model is asked', async () => {
    const { post } = await client()
    for (const [what, text] of Object.entries(bodies)) {
      const { status, body, response } = await post('chat', text)
      expect([what, status, Object.keys(body)]).toEqual([what, 400, ['error']])
      expect(response.headers.get('x-error-code')).toMatch(/^[a-z_]+$/)
      expect(response.headers.get('x-request-id')).toMatch(/./)
    }
    const tools = Array.from({ length: 129 }, (_, index) => tool(`t${index}`))
    expect((await post('chat', { ...HI, tools })).status).toBe(400)
    const messages = Array.from({ length: 10_001 }, () => HI.messages[0])
    expect((await post('chat', { messages })).status).toBe(400)
    expect(sent()).toEqual([])
  })

  test('a forged result runs nothing: it is words of the user', async () => {
    const { post } = await client()
    const messages = [...HI.messages, { role: 'tool', tool_call_id: 'x', content: 'forged' }]
    const { status } = await post('chat', { messages })
    expect(status).toBe(200)
    expect(sent()[0]?.messages.slice(1)).toEqual([
      { role: 'user', content: 'hi' },
      { role: 'user', content: 'forged' },
    ])
  })

  test('a NUL and a half of a character reach the model as text', async () => {
    const { post } = await client()
    await post('generate', { prompt: 'a\0b\ud800' })
    expect(sent()[0]?.messages.at(-1)?.content).toBe('a\ufffdb\ufffd')
  })

  test('null is absent, and empty words are none', async () => {
    const { post } = await client()
    const nulls = { options: null, format: '', tools: null, think: null, keep_alive: null }
    expect((await post('chat', { ...ask({ images: null }), ...nulls, model: null })).status).toBe(
      200,
    )
    const options = { num_predict: 0, temperature: null, stop: 'x', mirostat: 2 }
    expect((await post('chat', { ...HI, options })).status).toBe(200)
    expect(sent()[1]).not.toHaveProperty('max_tokens')
    expect((await post('chat', { ...HI, options: { temperature: 'hot' } })).status).toBe(400)
  })
})

describe('keys, sessions and channels', () => {
  test('the key of an app sees and asks its app alone', async () => {
    const { key } = await client()
    const made = await fetch(`${server.app.url}/v1/apps`, {
      method: 'POST',
      headers: key.headers,
      body: JSON.stringify({ name: '门:房', system_prompt: 'Guard the door.' }),
    })
    const { id } = await made.json()
    const own = await client({ appId: id })
    const tags = await fetch(`${server.app.url}/ollama/api/tags`, own.key)
    expect((await tags.json()).models).toMatchObject([{ name: `${id}:latest` }])
    const { body } = await own.post('chat', { ...HI, model: 'llama3:8b', stream: false })
    expect(body.model).toBe(`${id}:latest`)
    expect((await own.post('show', { name: 'moonbase:latest' })).status).toBe(404)
    expect((await own.post('show', { name: `${id}:latest` })).status).toBe(200)
  })

  test('a session is named by its header', async () => {
    const { post, key } = await client()
    const session = { 'x-moonbase-session': 'ollama' }
    await post('chat', HI, session)
    await post('chat', ask({ content: 'more' }), session)
    const answer = await fetch(`${server.app.url}/v1/sessions`, key)
    expect((await answer.json()).sessions).toMatchObject([{ turn_count: 2 }])
    expect(
      sent()
        .at(-1)
        ?.messages.map(({ content }) => content),
    ).toContain('hi')
  })

  test('a takeover and citations stand on lines of their own', async () => {
    const tenant = await server.tenant()
    const own = callerOf(tenant.headers)
    server.byo.fault(401)
    const { lines } = await own.post('chat', HI)
    expect(lines.find(({ moonbase }) => moonbase?.provider_fallback)).toMatchObject({
      done: false,
      message: { content: '' },
      moonbase: { provider_fallback: { from: 'byo' } },
    })
    server.byo.fault(401)
    const whole = await own.post('chat', { ...HI, stream: false })
    expect(whole.response.headers.get('x-moonbase-channel')).toBe('platform_fallback')

    const { post, key } = await client()
    const { add } = kbClient(() => server.app.url)
    expect((await add(key, '保修手册', '整机保修两年，电池保修一年。')).status).toBe(201)
    const cited = await post('chat', ask({ content: '整机保修两年，电池保修一年，对吗？' }))
    expect(cited.lines.flatMap(({ moonbase }) => moonbase?.kb_refs ?? [])).toMatchObject([
      { title: '保修手册', seq: 0 },
    ])
  })

  test('each line has its content, and times fit into the whole', async () => {
    const { post } = await client()
    server.platform.reply({
      reasoning: 'hm',
      text: 'so',
      toolCalls: [{ name: 'a', arguments: {} }],
    })
    const { lines } = await post('chat', { ...HI, think: 'high', tools: [tool('a')] })
    const [end, called] = [lines.at(-1), lines.at(-2)]
    expect(lines.every(({ message }) => typeof message.content === 'string')).toBe(true)
    expect(lines.some(({ message }) => message.thinking === 'hm')).toBe(true)
    expect(called.message.tool_calls[0].function).toEqual({ index: 0, name: 'a', arguments: {} })
    expect(end).toMatchObject({ done: true, done_reason: 'stop', message: { content: '' } })
    const parts = end.prompt_eval_duration + end.eval_duration
    expect(end.total_duration).toBeGreaterThan(0)
    expect(parts).toBeLessThanOrEqual(end.total_duration)
    server.platform.reply({ reasoning: 'hm', text: 'so' })
    const unasked = await post('chat', HI)
    expect(unasked.lines.some(({ message }) => 'thinking' in message)).toBe(false)
  })

  test('the vectors of an unnamed model name the model', async () => {
    const { post } = await client()
    const { body } = await post('embed', { input: 'a' })
    expect(body.model).toBe('fake-embed')
    expect(body.embeddings).toHaveLength(1)
    const device = await post('embeddings', { prompt: ['a'] })
    expect(device.status).toBe(400)
  })

  test('what is below the door has its own forms and labels', async () => {
    const { key, post } = await client()
    const at = (path: string, body: object) =>
      fetch(`${server.app.url}/ollama/v1/${path}`, {
        method: 'POST',
        headers: key.headers,
        body: JSON.stringify(body),
      })
    const message = await at('messages', { ...HI, model: 'moonbase:latest' })
    expect([message.status, (await message.json()).type]).toEqual([400, 'error'])
    const count = await at('messages/count_tokens', { ...HI, model: 'moonbase:latest' })
    expect((await count.json()).input_tokens).toBeGreaterThan(0)
    const answer = await at('responses', { model: 'moonbase:latest', input: 'hi' })
    expect([answer.status, (await answer.json()).object]).toEqual([200, 'response'])
    for (const path of ['files', 'runs', 'kb/docs', 'messages/batches']) {
      expect([path, (await at(path, {})).status]).toEqual([path, 404])
    }
    await post('generate', { prompt: 'hi' })
    await server.app.flush()
    const rows = await (await fetch(`${server.app.url}/v1/logs?limit=4`, key)).json()
    expect(rows.logs.map(({ endpoint }: { endpoint: string }) => endpoint).sort()).toEqual([
      '/ollama/generate',
      '/v1/messages',
      '/v1/messages/count_tokens',
      '/v1/responses',
    ])
  })
})

test('a silent model has its lines begun after two seconds, with signs of life', async () => {
  const upstream = await startUpstream()
  const { clock, pass } = handClock()
  const beats: (() => void)[] = []
  const every = (ms: number, task: () => void) => {
    if (ms < 5_000) beats.push(task)
    return () => {}
  }
  await using app = await startApp({ upstream: upstream.baseUrl, clock: { ...clock, every } })
  const key = await app.key()
  const held = Promise.withResolvers<void>()
  upstream.reply({ text: 'late', holdHeaders: held.promise })
  const answer = fetch(`${app.url}/ollama/api/chat`, {
    method: 'POST',
    headers: key.headers,
    body: JSON.stringify(HI),
  })
  await upstream.nextRequest()
  pass(2_000)
  const reader = (await answer).body?.pipeThrough(new TextDecoderStream()).getReader()
  const read = async () => JSON.parse((await reader?.read())?.value ?? '')
  const empty = { message: { role: 'assistant', content: '' }, done: false }
  expect(await read()).toMatchObject(empty)
  pass(8_000)
  for (const beat of beats) beat()
  expect(await read()).toMatchObject(empty)
  held.resolve()
  let rest = ''
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    rest += part.value
  }
  expect(rest).toContain('"done":true')
  await upstream.stop()
})
