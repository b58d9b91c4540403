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
const sent = () => server.asked(server.platform).map(({ body }) => body)
const tool = (name: string) => ({ name, input_schema: { type: 'object', properties: {} } })

async function client() {
  const key = await server.app.key()
  return { key, chat: messagesOf(server.app, key) }
}

describe('what clients of Anthropic send unasked', () => {
  test('every field that has no effect is taken, all at once, with 256 tools', async () => {
    const { chat } = await client()
    const cached = { type: 'text', text: 'rules', cache_control: { type: 'ephemeral' } }
    const tools = Array.from({ length: 255 }, (_, index) => tool(`t${index}`))
    const { status } = await chat.whole({
      model: 'claude-opus-9',
      system: [cached],
      messages: [
        { role: 'user', content: [{ ...cached, text: 'A' }, { type: 'container_upload' }] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'x', signature: 'moonbase' },
            { type: 'redacted_thinking', data: 'x' },
            { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
          ],
        },
        { role: 'user', content: 'B' },
        { role: 'system', content: 'be brief' },
      ],
      tools: [...tools, { type: 'web_search_20250305', name: 'web_search' }],
      tool_choice: { type: 'tool', name: 'web_search', disable_parallel_tool_use: true },
      context_management: { edits: [] },
      output_config: { effort: 'high' },
      top_k: 4,
      metadata: { user_id: 'u' },
      service_tier: 'auto',
      inference_geo: 'eu',
      mcp_servers: [{ url: 'https://x' }],
      container: 'c',
      betas: ['x'],
      session_id: 's',
      thinking: { type: 'novel' },
      stop_sequences: null,
      temperature: null,
    })
    expect(status).toBe(200)
    const [body] = sent()
    expect(body?.messages).toEqual([
      { role: 'system', content: 'rules' },
      { role: 'user', content: 'A' },
      { role: 'user', content: 'B\n<system-reminder>\nbe brief\n</system-reminder>' },
    ] as never)
    expect((body as never as { tools: unknown[] }).tools).toHaveLength(255)
    expect(body).not.toHaveProperty('tool_choice')
    expect((await chat.whole({ ...HI, tools: [...tools, tool('a'), tool('b')] })).status).toBe(400)
  })

  test('a system message between a call and its result goes behind the result', async () => {
    const { chat } = await client()
    const messages = [
      { role: 'user', content: 'A' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'look', input: {} }] },
      { role: 'system', content: 'S' },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'c',
            is_error: true,
            content: [
              { type: 'text', text: 'dark' },
              { type: 'tool_reference', tool_name: 'lamp' },
            ],
          },
        ],
      },
    ]
    await chat.whole({ messages, tools: [tool('look')] })
    const head = sent()[0]?.messages ?? []
    expect(head.slice(2).map(({ role, content }) => [role, content])).toEqual([
      ['assistant', null],
      ['tool', 'error: dark\nlamp'],
      ['user', '<system-reminder>\nS\n</system-reminder>'],
    ] as never)
    const more = [
      { role: 'assistant', content: 'it is dark' },
      { role: 'user', content: 'B' },
    ]
    await chat.whole({ messages: [...messages, ...more], tools: [tool('look')] })
    expect(sent()[1]?.messages.slice(0, head.length)).toEqual([...head])
  })

  test('max_tokens that the model refuses is asked once more without', async () => {
    const { chat } = await client()
    server.platform.fault(400, { body: '{"error":{"message":"max_tokens must be at most 8192"}}' })
    expect((await chat.whole({ ...HI, max_tokens: 64_000 })).status).toBe(200)
    expect(sent().map((body) => 'max_tokens' in body)).toEqual([true, false])
  })
})

describe('a conversation that is too long', () => {
  const REFUSED =
    "This model's maximum context length is 8192 tokens. However, you requested 9001 tokens."
  const error = (message: string) => JSON.stringify({ error: { message } })

  test('is a 400 in the words that clients look for, streamed or not', async () => {
    const { chat } = await client()
    const said = 'prompt is too long: 9001 tokens > 8192 maximum'
    for (const stream of [false, true]) {
      server.platform.fault(400, { body: error(REFUSED) })
      const { status, body } = await chat.whole({ ...HI, stream })
      expect([status, body.error]).toEqual([400, { type: 'invalid_request_error', message: said }])
    }
    server.platform.reply({ payloads: [{ error: { message: REFUSED } }] })
    expect((await chat.whole({ ...HI, stream: true })).body.error.message).toBe(said)
    expect(sent()).toHaveLength(3)
  })

  test('names both lengths where the model does', async () => {
    const { chat } = await client()
    const both = `${REFUSED} (5001 in the messages, 4000 in the completion)`
    server.platform.fault(400, { body: error(both) })
    expect((await chat.whole(HI)).body.error.message).toBe(
      'input length and `max_tokens` exceed context limit: 5001 + 4000 > 8192',
    )
    server.platform.fault(400, { body: error('code: context_length_exceeded') })
    const { input_tokens } = await chat.count(HI)
    expect((await chat.whole(HI)).body.error.message).toBe(
      `prompt is too long: ${input_tokens} tokens > 0 maximum`,
    )
  })

  test('is refused here above two million characters of system and messages', async () => {
    const { chat } = await client()
    const content = 'a'.repeat(1_999_999)
    const long = { system: 'bb', messages: [{ role: 'user', content }] }
    const { status, body } = await chat.whole(long)
    expect(status).toBe(400)
    expect(body.error.message).toBe('prompt is too long: 500001 tokens > 0 maximum')
    expect((await chat.whole({ ...long, system: 'b' })).status).toBe(200)
    // Far above, and as a count: the figure is the estimate all the same.
    const far = { messages: [{ role: 'user', content: 'a'.repeat(5_000_000) }] }
    for (const path of ['', '/count_tokens']) {
      const { error } = await (await chat.post(far, {}, path)).json()
      expect(error.message).toBe('prompt is too long: 1250000 tokens > 0 maximum')
    }
  })
})

describe('who may ask for messages, and whom', () => {
  test('either credential holds, and a bearer token goes first', async () => {
    const { key, chat } = await client()
    const ask = async (headers: Readonly<Record<string, string>>) =>
      (await chat.post(HI, headers)).status
    expect(await ask({})).toBe(200)
    expect(await ask({ 'x-api-key': '', ...key.headers })).toBe(200)
    expect(await ask({ 'x-api-key': 'sk-mb-no', ...key.headers })).toBe(200)
    expect(await ask({ authorization: 'Bearer ' })).toBe(200)
    expect(await ask({ authorization: 'Bearer sk-mb-no' })).toBe(401)
    const refused = await chat.whole(HI, { 'x-api-key': 'sk-mb-no' })
    expect([refused.status, refused.body.error.type]).toEqual([401, 'authentication_error'])
    const other = await fetch(`${server.app.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': key.key },
      body: '{}',
    })
    expect(other.status).toBe(401)
  })

  test('assistants are found by name, but not those of other tenants', async () => {
    const { key, chat } = await client()
    const post = (owner: { headers: object }, name: string) =>
      fetch(`${server.app.url}/v1/apps`, {
        method: 'POST',
        headers: owner.headers as Record<string, string>,
        body: JSON.stringify({ name, system_prompt: 'P' }),
      }).then((response) => response.json())
    const { id } = await post(key, '客服')
    const foreign = await post(await server.app.key('b@example.com'), '其他')
    const model = async (name: string | null) => {
      const { status, body } = await chat.whole({ ...HI, model: name })
      return status === 200 ? body.model : status
    }
    expect(await model(null)).toBe('moonbase')
    expect(await model('claude-moonbase')).toBe('moonbase')
    expect(await model('claude-haiku-4-5')).toBe('moonbase')
    expect(await model(`claude-moonbase-${id}`)).toBe('客服')
    expect(await model(id)).toBe('客服')
    expect(await model(`claude-moonbase-${foreign.id}`)).toBe(404)
    expect(await model('gpt-9')).toBe(404)

    const list = async (path: string, headers = {}) =>
      fetch(`${server.app.url}/v1/models${path}`, { headers: { ...key.headers, ...headers } })
    expect(await (await list('?limit=1000')).json()).toMatchObject({
      data: [
        { type: 'model', id: 'claude-moonbase', display_name: 'moonbase' },
        { type: 'model', id: `claude-moonbase-${id}`, display_name: '客服' },
      ],
      has_more: false,
      first_id: 'claude-moonbase',
      last_id: `claude-moonbase-${id}`,
    })
    expect(await (await list('')).json()).toMatchObject({ object: 'list' })
    const version = { 'anthropic-version': '2023-06-01' }
    expect((await list(`/claude-moonbase-${id}`, version)).status).toBe(200)
    const missing = await list('/claude-haiku', version)
    expect([missing.status, (await missing.json()).type]).toEqual([404, 'error'])
  })

  test('server tools and documents are for requests without tools', async () => {
    const { chat } = await client()
    await chat.whole(HI)
    await chat.whole({ ...HI, tools: [{ type: 'bash_20250124', name: 'bash' }] })
    await chat.whole({ ...HI, tools: [] })
    const offered = sent().map(
      (body) => (body.tools as readonly unknown[] | undefined)?.length ?? 0,
    )
    expect(offered.map((count) => count > 0)).toEqual([true, false, true])
  })

  test('what is not offered is 404 in the same form', async () => {
    const { key } = await client()
    for (const path of ['/batches', '/msg_1/events']) {
      const response = await fetch(`${server.app.url}/v1/messages${path}`, key)
      expect(response.status).toBe(404)
      expect(await response.json()).toMatchObject({ error: { type: 'not_found_error' } })
    }
    const wrong = await fetch(`${server.app.url}/v1/messages`, key)
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST'])
    expect(wrong.headers.get('request-id')).toBe(wrong.headers.get('x-request-id') as string)
  })
})
