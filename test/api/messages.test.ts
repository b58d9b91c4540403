import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { type Failover, startFailover } from '../support/failover.ts'
import { messagesOf } from '../support/messages.ts'
import { pdfFile } from '../support/pdf-file.ts'

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
  return { key, chat: messagesOf(server.app, key), sdk: sdkOf(key.key) }
}
const sdkOf = (apiKey: string) =>
  new Anthropic({ apiKey, authToken: null, baseURL: server.app.url, maxRetries: 0 })

describe('messages by the SDK of Anthropic', () => {
  test('a plain message has text, model, usage and the reason to stop', async () => {
    const { sdk } = await client()
    server.platform.reply({ text: '你好' })
    const message = await sdk.messages.create({ ...HI, model: 'claude-x', max_tokens: 9 } as never)
    expect(message).toMatchObject({
      id: expect.stringMatching(/^msg_/),
      ...{ type: 'message', role: 'assistant', model: 'moonbase', stop_reason: 'end_turn' },
      content: [{ type: 'text', text: '你好' }],
      usage: { input_tokens: 11, output_tokens: 7 },
      _request_id: expect.any(String),
    } as never)
    expect(sent()[0]).toMatchObject({ max_tokens: 9 })
  })

  test('the helper of streams puts the same message together', async () => {
    const { sdk } = await client()
    server.platform.reply({ pieces: ['你', '好'] })
    const stream = sdk.messages.stream({ ...HI, model: 'x-claude', max_tokens: 9 } as never)
    expect(await stream.finalText()).toBe('你好')
    expect((await stream.finalMessage()).usage.input_tokens).toBe(11)
  })

  test('tools go round twice and their results come back in order', async () => {
    const { sdk } = await client()
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'weather?' }]
    for (const round of [1, 2]) {
      server.platform.reply({
        toolCalls: [{ name: 'look', id: `c${round}`, arguments: { round } }],
      })
      const tools = [tool('look')] as Anthropic.Tool[]
      const answer = await sdk.messages.create({ model: '', max_tokens: 9, messages, tools })
      expect(answer.stop_reason).toBe('tool_use')
      expect(answer.content).toEqual([
        { type: 'tool_use', id: `c${round}`, name: 'look', input: { round } } as never,
      ])
      messages.push({ role: 'assistant', content: answer.content })
      messages.push({
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: `c${round}`, content: `sun ${round}` }],
      })
    }
    await sdk.messages.create({ model: '', max_tokens: 9, messages })
    expect(sent().at(-1)?.messages.slice(1)).toMatchObject([
      { role: 'user', content: 'weather?' },
      { role: 'assistant', tool_calls: [{ id: 'c1' }] },
      { role: 'tool', tool_call_id: 'c1', content: 'sun 1' },
      { role: 'assistant', tool_calls: [{ id: 'c2' }] },
      { role: 'tool', tool_call_id: 'c2', content: 'sun 2' },
    ])
  })

  test('a tool runner whose server shall hold the thread sends its history again', async () => {
    const { chat } = await client()
    const { status, body, response } = await chat.whole({ ...HI, thread: { type: 'create' } })
    expect([status, body.error.details]).toEqual([
      400,
      { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
    ])
    expect(body.request_id).toBe(response.headers.get('request-id'))
    expect(sent()).toEqual([])
    expect((await chat.whole({ ...HI, thread: null })).status).toBe(200)
  })

  test('an image and a PDF are read, and bytes that are none are refused', async () => {
    const { chat } = await client()
    const data = 'iVBORw0KGgo='
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } }
    const pdf = (bytes: Uint8Array) => ({
      type: 'document',
      source: {
        type: 'base64',
        media_type: 'application/pdf',
        data: Buffer.from(bytes).toString('base64'),
      },
    })
    const paper = pdf(pdfFile([{ lines: ['Moons of Jupiter'] } as never]))
    const say = { type: 'text', text: 'what is it?' }
    const { status } = await chat.whole({
      messages: [{ role: 'user', content: [image, paper, say] }],
    })
    expect(status).toBe(200)
    const content = (sent()[0]?.messages[1]?.content ?? []) as { text: string }[]
    const [text, picture] = content
    expect(text?.text).toMatch(/Moons of Jupiter[\s\S]*what is it\?/)
    expect(picture).toEqual({
      type: 'image_url',
      image_url: { url: `data:image/png;base64,${data}` },
    } as never)
    const broken = { messages: [{ role: 'user', content: [pdf(Buffer.from('no pdf')), say] }] }
    expect((await chat.whole(broken)).status).toBe(400)
    const file = { ...image, source: { type: 'file', file_id: 'f' } }
    expect((await chat.whole({ messages: [{ role: 'user', content: [file, say] }] })).status).toBe(
      400,
    )
  })
})

describe('the events of a streamed message', () => {
  test('thinking, text and calls are blocks one after another', async () => {
    const { chat } = await client()
    const call = { name: 'look', id: 'c', arguments: { at: 'sky' } }
    server.platform.reply({ reasoning: 'hm, so', text: 'I look', toolCalls: [call] })
    const asked = { ...HI, tools: [tool('look')], thinking: { type: 'adaptive' } }
    const { events, word, response } = await chat.stream(asked)
    expect(response.headers.get('content-type')).toStartWith('text/event-stream')
    expect(word).toMatch(/^MP\[\.+\]\[\.+\]\[\.\]DS$/)
    const blocks = events.filter(({ type }) => type === 'content_block_start')
    expect(blocks.map(({ content_block }) => content_block)).toEqual([
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'text', text: '' },
      { type: 'tool_use', id: 'c', name: 'look', input: {} },
    ])
    expect(
      events.find(({ delta }) => (delta as { type?: string })?.type === 'signature_delta'),
    ).toMatchObject({ index: 0, delta: { signature: 'moonbase' } })
    const [start] = events as never as { message: { usage: { input_tokens: number } } }[]
    const { input_tokens } = await chat.count({ ...HI, tools: [tool('look')] })
    expect(start?.message.usage.input_tokens).toBe(input_tokens)
    expect(events.at(-2)).toMatchObject({
      delta: { stop_reason: 'tool_use', stop_sequence: null },
      usage: { input_tokens: 11, output_tokens: 7 },
      moonbase: { stats: { iterations: 1, channel: 'platform' } },
    })
  })

  test('an answer cut before its first word is an empty text', async () => {
    const { chat } = await client()
    server.platform.reply({ pieces: [], finish: 'length' })
    expect((await chat.whole(HI)).body).toMatchObject({
      content: [{ type: 'text', text: '' }],
      stop_reason: 'max_tokens',
    })
    server.platform.reply({ pieces: [], finish: 'length' })
    expect((await chat.stream(HI)).word).toBe('MP[]DS')
  })

  test('an answer that breaks off ends with an error and not with a stop', async () => {
    const { chat } = await client()
    server.platform.fault('cut', { after: 2 })
    const { events, word, response } = await chat.stream(HI)
    expect([response.status, word.at(-1)]).toEqual([200, 'E'])
    expect(events.at(-1)).toMatchObject({ error: { type: 'api_error' } })
  })

  test('a model that is silent has its message begun after two seconds', async () => {
    const { chat } = await client()
    const held = Promise.withResolvers<void>()
    server.platform.reply({ text: 'late', holdHeaders: held.promise })
    const response = await chat.post({ ...HI, stream: true })
    expect(response.status).toBe(200)
    held.resolve()
    expect(await response.text()).toContain('late')
  })
})

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
      ...{ context_management: { edits: [] }, output_config: { effort: 'high' }, top_k: 4 },
      ...{ metadata: { user_id: 'u' }, service_tier: 'auto', inference_geo: 'eu' },
      ...{ mcp_servers: [{ url: 'https://x' }], container: 'c', betas: ['x'], session_id: 's' },
      ...{ thinking: { type: 'novel' }, stop_sequences: null, temperature: null },
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
      ...{ method: 'POST', headers: { 'x-api-key': key.key }, body: '{}' },
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
      ...{ has_more: false, first_id: 'claude-moonbase', last_id: `claude-moonbase-${id}` },
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
