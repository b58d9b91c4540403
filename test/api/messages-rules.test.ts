import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { type Failover, startFailover } from '../support/failover.ts'
import { messagesOf } from '../support/messages.ts'

let server: Failover
beforeAll(async () => {
  server = await startFailover()
})
afterEach(() => server.reset())
afterAll(() => server[Symbol.asyncDispose]())

const HI = { messages: [{ role: 'user', content: 'hi' }] }
const ask = (content: unknown) => ({ messages: [{ role: 'user', content }] })
const sent = () => server.asked(server.platform).map(({ body }) => body)
const tool = (name: string) => ({ name, input_schema: { type: 'object', properties: {} } })
const namesOf = (body: unknown) =>
  ((body as { tools?: { function: { name: string } }[] }).tools ?? []).map(
    (one) => one.function.name,
  )

async function client() {
  const key = await server.app.key('rules@example.com')
  return { key, chat: messagesOf(server.app, key) }
}

describe('what a request asks of the model', () => {
  test('a choice of tools, one call at a time, and a form of the answer', async () => {
    const { chat } = await client()
    const tools = [tool('look'), tool('go')]
    const schema = { type: 'object', properties: { a: { type: 'string' } } }
    const asked = async (more: object) => {
      const { status } = await chat.whole({ ...HI, tools, ...more })
      return status === 200 ? sent().at(-1) : status
    }
    expect(await asked({ tool_choice: { type: 'any' } })).toMatchObject({ tool_choice: 'required' })
    const named = { type: 'tool', name: 'go', disable_parallel_tool_use: true }
    expect(await asked({ tool_choice: named })).toMatchObject({
      tool_choice: { function: { name: 'go' } },
      parallel_tool_calls: false,
    })
    expect(namesOf(await asked({ tool_choice: { type: 'none' } }))).toEqual([])
    expect(await asked({ tool_choice: { type: 'tool', name: 'fly' } })).toBe(400)
    const config = { format: { type: 'json_schema', schema } }
    expect(await asked({ output_config: config, top_p: 0.5, stop_sequences: ['x'] })).toMatchObject(
      { response_format: { json_schema: { schema } }, top_p: 0.5, stop: ['x'] },
    )
  })

  test('an app keeps its own tools beside those of the request', async () => {
    const { key } = await client()
    const made = await fetch(`${server.app.url}/v1/apps`, {
      method: 'POST',
      headers: key.headers,
      body: JSON.stringify({ name: 'clerk', tools_enabled: ['calculator'] }),
    })
    const { id } = await made.json()
    const own = messagesOf(server.app, await server.app.key('rules@example.com', { appId: id }))
    await own.whole({ ...HI, tools: [tool('look')] })
    expect(namesOf(sent()[0]).sort()).toEqual(['calculator', 'look'])
  })

  test('found texts, documents of words and pictures in results are read', async () => {
    const { chat } = await client()
    const data = 'iVBORw0KGgo='
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } }
    const found = { type: 'text', text: 'it is wide' }
    const blocks = [
      { type: 'search_result', title: 'Io', source: 'atlas', content: [found] },
      { type: 'document', title: 'Notes', source: { type: 'text', data: 'and round' } },
      { type: 'text', text: 'right?' },
    ]
    const call = { type: 'tool_use', id: 'c', name: 'look', input: {} }
    await chat.whole({
      messages: [
        ...HI.messages,
        { role: 'assistant', content: [call] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'c', content: [image] }, ...blocks],
        },
      ],
    })
    const [result, user] = sent()[0]?.messages.slice(-2) ?? []
    expect(result).toMatchObject({ role: 'tool', tool_call_id: 'c' })
    expect(user?.content).toMatchObject([
      { text: 'Io\natlas\nit is wide\nNotes\nand round\nright?' },
      { image_url: { url: `data:image/png;base64,${data}` } },
    ] as never)
  })
})

describe('what an answer says', () => {
  test('thoughts are told where they were asked for, and nowhere else', async () => {
    const { chat } = await client()
    const kinds = async (thinking: object | null) => {
      server.platform.reply({ reasoning: 'hm', text: 'so' })
      const { body } = await chat.whole({ ...HI, thinking })
      return body.content.map(({ type }: { type: string }) => type)
    }
    expect(await kinds({ type: 'enabled', budget_tokens: 1024 })).toEqual(['thinking', 'text'])
    expect(await kinds({ type: 'disabled' })).toEqual(['text'])
    expect(await kinds(null)).toEqual(['text'])
  })

  test('a filtered answer is a refusal, and a failed one is not to be asked again', async () => {
    const { chat } = await client()
    server.platform.reply({ text: 'no', finish: 'content_filter' })
    expect((await chat.whole(HI)).body.stop_reason).toBe('refusal')
    server.platform.fault(400)
    const { status, body, response } = await chat.whole(HI)
    expect([status, body.error.type]).toEqual([502, 'api_error'])
    expect(response.headers.get('x-should-retry')).toBe('false')
  })

  test('names of Claude in any case are the default assistant', async () => {
    const { key, chat } = await client()
    for (const model of ['Claude-X', 'ANTHROPIC/opus', 'us.anthropic.claude-v9']) {
      expect((await chat.whole({ ...HI, model })).body.model).toBe('moonbase')
    }
    const version = { 'anthropic-version': '2023-06-01' }
    const list = await fetch(`${server.app.url}/v1/models`, {
      headers: { 'x-api-key': key.key, ...version },
    })
    expect((await list.json()).data[0].id).toBe('claude-moonbase')
    const wrong = await fetch(`${server.app.url}/v1/models`, { headers: version })
    expect([wrong.status, (await wrong.json()).error.type]).toEqual([401, 'authentication_error'])
  })
})

test('a page of any site may ask, with the headers of the SDK', async () => {
  const wanted = [
    'x-api-key',
    'anthropic-version',
    'anthropic-beta',
    'anthropic-dangerous-direct-browser-access',
    ...['x-moonbase-session', 'x-moonbase-subject', 'x-moonbase-kb'],
  ]
  const preflight = await fetch(`${server.app.url}/v1/messages`, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://page.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': wanted.join(','),
    },
  })
  expect(preflight.status).toBe(204)
  const allowed = preflight.headers.get('access-control-allow-headers')?.toLowerCase() ?? ''
  expect(wanted.filter((name) => !allowed.includes(name))).toEqual([])
  const { chat } = await client()
  const { response } = await chat.whole(ask('hi'), { origin: 'https://page.example' })
  expect(response.headers.get('access-control-expose-headers')).toContain('request-id')
})
