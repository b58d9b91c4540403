import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { startApp, type TestApp } from '../support/app.ts'
import { deviceClient } from '../support/devices.ts'
import { startUpstream, type Upstream } from '../support/upstream.ts'

let upstream: Upstream
let app: TestApp
beforeAll(async () => {
  upstream = await startUpstream()
  app = await startApp({ upstream: upstream.baseUrl })
})
afterEach(() => upstream.reset())
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await upstream.stop()
})

const HI = [{ role: 'user', content: 'hi' }]
const sent = () => upstream.requests.map(({ body }) => body)

async function client() {
  const key = await app.key('rules@example.com')
  const call = (method: string, path: string, body?: object, headers = {}) =>
    fetch(`${app.url}/ollama${path}`, {
      method,
      headers: { ...key.headers, ...headers },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
  const chat = async (body: object) => {
    const answer = await call('POST', '/api/chat', { messages: HI, stream: false, ...body })
    return { status: answer.status, body: await answer.json() }
  }
  return { key, call, chat }
}

test('the context of a model is what its channel lists, else 32,768', async () => {
  const { call } = await client()
  const shown = async () => {
    const answer = await call('POST', '/api/show', { model: 'moonbase' })
    return (await answer.json()).model_info['moonbase.context_length']
  }
  upstream.models.always({ ids: ['fake'], more: { max_model_len: 131_072 } })
  expect(await Promise.all([shown(), shown()])).toEqual([131_072, 131_072])
  const asked = upstream.requests.filter(({ path }) => path.endsWith('/models'))
  expect(asked).toHaveLength(1)
  const silent = await startUpstream()
  silent.models.alwaysFault(500)
  await using other = await startApp({ upstream: silent.baseUrl })
  const { headers } = await other.key()
  for (let n = 0; n < 3; n++) {
    const answer = await fetch(`${other.url}/ollama/api/show`, {
      method: 'POST',
      headers,
      body: '{"model":"moonbase"}',
    })
    expect((await answer.json()).model_info['moonbase.context_length']).toBe(32_768)
  }
  // Polls do not ask a failing channel again and again.
  expect(silent.requests).toHaveLength(1)
  await silent.stop()
})

describe('requests', () => {
  test('a form of the answer, and pictures by their first bytes', async () => {
    const { chat } = await client()
    const schema = { type: 'object', properties: {} }
    await chat({ format: 'json' })
    await chat({ format: schema })
    expect(sent().map(({ response_format }) => response_format)).toMatchObject([
      { type: 'json_object' },
      { json_schema: { schema } },
    ] as never)
    const kinds = {
      png: 'iVBORw0KGgo=',
      jpeg: '/9j/4AAQ',
      gif: 'R0lGODlh',
      webp: 'UklGRiQAAABXRUJQ',
    }
    await chat({ messages: [{ ...HI[0], images: Object.values(kinds) }] })
    const content = sent().at(-1)?.messages.at(-1)?.content as { image_url?: { url: string } }[]
    const urls = content.flatMap(({ image_url }) => image_url?.url ?? [])
    expect(urls).toEqual(
      Object.entries(kinds).map(([kind, data]) => `data:image/${kind};base64,${data}`),
    )
  })

  test('a result names its call by the tool, whatever the order', async () => {
    const { chat } = await client()
    const called = ['lamp', 'door'].map((name) => ({ function: { name, arguments: {} } }))
    const results = ['door', 'lamp'].map((name) => ({
      role: 'tool',
      tool_name: name,
      content: `${name} is open`,
    }))
    await chat({ messages: [...HI, { role: 'assistant', tool_calls: called }, ...results] })
    const [call, ...told] = sent()[0]?.messages.slice(-3) ?? []
    const calls = (call?.tool_calls ?? []) as { id: string; function: { name: string } }[]
    const idOf = (name: string) => calls.find((one) => one.function.name === name)?.id
    expect(told).toMatchObject([
      { tool_call_id: idOf('door') as string, content: 'door is open' },
      { tool_call_id: idOf('lamp') as string, content: 'lamp is open' },
    ])
  })

  test('a body is JSON whatever its type says, and a cut answer says length', async () => {
    const { call } = await client()
    upstream.reply({ text: 'so', finish: 'length' })
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const answer = await call('POST', '/api/chat', { messages: HI, stream: false }, form)
    expect([answer.status, (await answer.json()).done_reason]).toEqual([200, 'length'])
  })
})

describe('paths', () => {
  test('probes by HEAD are answered, and models are not made here', async () => {
    const { call } = await client()
    for (const path of ['/', '/api/version', '/api/tags', '/api/ps']) {
      const { status, headers } = await call('HEAD', path)
      expect([path, status, headers.get('x-moonbase')]).toEqual([path, 200, '1'])
    }
    for (const [method, path] of [
      ['POST', '/api/push'],
      ['POST', '/api/create'],
      ['POST', '/api/copy'],
      ['DELETE', '/api/delete'],
      ['POST', '/api/blobs/sha256:00'],
    ] as const) {
      const answer = await call(method, path, { model: 'moonbase' })
      expect([path, answer.status, await answer.json()]).toEqual([
        path,
        403,
        { error: expect.any(String) },
      ])
    }
    // ollama-js sends the name of a model in either field.
    for (const path of ['/api/show', '/api/pull']) {
      expect((await call('POST', path, { model: '', name: 'moonbase' })).status).toBe(200)
      expect((await call('POST', path, { model: 'none', name: 'moonbase' })).status).toBe(404)
    }
    const wrong = await call('GET', '/api/chat')
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST'])
  })

  test('a page of any site may ask on the main port, where a key is needed', async () => {
    const origin = { origin: 'https://page.example' }
    const preflight = await fetch(`${app.url}/ollama/api/chat`, {
      method: 'OPTIONS',
      headers: { ...origin, 'access-control-request-method': 'POST' },
    })
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([
      204,
      '*',
    ])
    expect((await fetch(`${app.url}/ollama/api/tags`, { headers: origin })).status).toBe(401)
  })
})

test('a device is its app at both doors, and makes no vectors', async () => {
  const { key } = await client()
  const made = await fetch(`${app.url}/v1/apps`, {
    method: 'POST',
    headers: key.headers,
    body: JSON.stringify({ name: 'kitchen', system_prompt: 'You cook.' }),
  })
  const { id } = await made.json()
  const { device } = await deviceClient(app, key).pair({ app_id: id })
  const post = (path: string, body: object) =>
    fetch(`${app.url}${path}`, {
      method: 'POST',
      headers: device.headers,
      body: JSON.stringify(body),
    })
  const tags = await fetch(`${app.url}/ollama/api/tags`, { headers: device.headers })
  expect((await tags.json()).models).toMatchObject([{ name: 'kitchen:latest' }])
  const chat = await post('/ollama/api/chat', { model: 'x', messages: HI, stream: false })
  expect((await chat.json()).model).toBe('kitchen:latest')
  const message = await post('/v1/messages', { model: 'claude-x', max_tokens: 5, messages: HI })
  expect((await message.json()).model).toBe('kitchen')
  for (const { messages } of sent()) expect(String(messages[0]?.content)).toStartWith('You cook.')
  for (const path of ['embed', 'embeddings']) {
    expect((await post(`/ollama/api/${path}`, { input: 'a', prompt: 'a' })).status).toBe(403)
  }
})

test.each(['/v1/messages', '/ollama/api/chat', '/ollama/api/generate'])(
  'a client of %s that leaves ends the model call, whole and streamed',
  async (path) => {
    const { key } = await client()
    const never = new Promise<void>(() => {})
    for (const begun of [0, 1]) {
      for (const stream of [true, false]) {
        upstream.reply(
          begun === 0
            ? { holdHeaders: never }
            : { pieces: ['one'], hold: { after: 1, until: never } },
        )
        const left = new AbortController()
        const asked = fetch(`${app.url}${path}`, {
          method: 'POST',
          headers: key.headers,
          body: JSON.stringify({ messages: HI, prompt: 'hi', max_tokens: 5, stream }),
          signal: left.signal,
        }).then((response) => response.text())
        await upstream.nextRequest()
        left.abort()
        expect(await asked.catch(() => 'left')).toBe('left')
        await upstream.aborted()
      }
    }
  },
)
