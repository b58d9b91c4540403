import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { user } from '../support/completions.ts'
import { type Failover, startFailover } from '../support/failover.ts'
import { inputMessage as message, responseTenant, textsOf } from '../support/open-responses.ts'

let server: Failover
beforeAll(async () => {
  server = await startFailover({ MB_PUBLIC_URL: 'https://box.example' })
})
afterEach(() => server.reset())
afterAll(() => server[Symbol.asyncDispose]())

const tenant = () => responseTenant(server.app)

const WEATHER = {
  type: 'function',
  name: 'get_weather',
  description: 'Tells the weather of a place.',
  parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
}
const WEATHER_CALL = { name: 'get_weather', id: 'call_w', arguments: { place: 'Rome' } }
const SEARCH = { type: 'file_search', vector_store_ids: ['kb'] }
const PNG = 'data:image/png;base64,iVBORw0KGgo='
const HI = { input: [message('user', 'hi')] }
const sent = () => server.asked(server.platform).map(({ body }) => body)
const lastMessages = () => (sent().at(-1)?.messages ?? []) as readonly object[]
const kindsOf = ({ output }: { output: readonly { type: string }[] }) =>
  output.map(({ type }) => type)

describe('the cases that servers of Open Responses must pass', () => {
  test('a response to a text passes Open Responses', async () => {
    const chat = await tenant()
    const response = await chat.whole({ model: 'moonbase', ...HI })
    expect(response).toMatchObject({ status: 'completed', model: 'moonbase', store: false })
    expect(textsOf(response)).toMatchObject([{ text: '好的', annotations: [] }])
    expect(response.usage).toMatchObject({ input_tokens: 11, output_tokens: 7, total_tokens: 18 })
  })

  test('a streamed response passes Open Responses', async () => {
    const chat = await tenant()
    server.platform.reply({ pieces: ['1, ', '2'] })
    const { order, response } = await chat.stream(HI)
    expect(order.match(/output_text\.delta/g)).toHaveLength(2)
    expect(textsOf(response)).toMatchObject([{ text: '1, 2' }])
  })

  test('a system prompt', async () => {
    const chat = await tenant()
    const input = [message('system', 'You are a pirate.'), ...HI.input]
    await chat.whole({ input, instructions: 'Be short.' })
    expect(lastMessages()).toEqual([
      { role: 'system', content: 'Be short.\n\nYou are a pirate.' },
      user('hi'),
    ])
  })

  test('a function call, and its result', async () => {
    const chat = await tenant()
    server.platform.reply({ toolCalls: [WEATHER_CALL] })
    const { output } = await chat.whole({ ...HI, tools: [WEATHER] })
    const call = { call_id: 'call_w', name: 'get_weather', arguments: '{"place":"Rome"}' }
    expect(output).toMatchObject([{ type: 'function_call', ...call, status: 'completed' }])
    const result = { type: 'function_call_output', call_id: 'call_w', output: 'sunny' }
    const input = [...HI.input, { type: 'reasoning', summary: [] }, ...output, result]
    await chat.whole({ input, tools: [WEATHER] })
    expect(lastMessages().slice(1)).toMatchObject([
      user('hi'),
      { role: 'assistant', tool_calls: [{ id: 'call_w', function: { name: 'get_weather' } }] },
      { role: 'tool', tool_call_id: 'call_w', content: 'sunny' },
    ])
  })

  test('a function call, streamed', async () => {
    const chat = await tenant()
    server.platform.reply({ pieces: ['Let me see.'], toolCalls: [WEATHER_CALL] })
    const { order, response } = await chat.stream({ ...HI, tools: [WEATHER] })
    expect(order).toContain('function_call_arguments.delta function_call_arguments.done')
    expect(kindsOf(response)).toEqual(['message', 'function_call'])
  })

  test('a response to an image passes Open Responses', async () => {
    const chat = await tenant()
    const parts = [
      { type: 'input_text', text: 'What is it?' },
      { type: 'input_image', image_url: PNG, detail: 'auto' },
    ]
    await chat.whole({ input: [message('user', parts)] })
    expect(lastMessages().at(-1)).toMatchObject({
      content: [{ type: 'text' }, { type: 'image_url', image_url: { url: PNG } }],
    })
  })

  test('a response to several turns passes Open Responses', async () => {
    const chat = await tenant()
    const answer = { type: 'output_text', text: 'Hello Alice!', annotations: [] }
    const input = [user('I am Alice.'), message('assistant', [answer]), user('Who am I?')]
    await chat.whole({ input })
    expect(lastMessages().slice(1)).toEqual([
      user('I am Alice.'),
      { role: 'assistant', content: 'Hello Alice!' },
      user('Who am I?'),
    ])
  })
})

describe('responses of Moonbase', () => {
  test("a text as input is the user's message, and the response repeats the fields", async () => {
    const chat = await tenant()
    const format = { type: 'json_schema', name: 's', schema: { type: 'object' }, strict: true }
    const fields = {
      temperature: 0.5,
      top_p: 0.9,
      presence_penalty: 1,
      parallel_tool_calls: false,
      max_output_tokens: 16,
      metadata: { a: 'b' },
      truncation: 'auto',
      user: 'u',
    }
    const tools = [WEATHER]
    const wish = { ...fields, text: { format }, reasoning: { effort: 'high' }, tools }
    const response = await chat.whole({ input: 'hi', ...wish, previous_response_id: null })
    expect(response).toMatchObject({ ...fields, store: false, reasoning: { effort: 'high' } })
    expect(response.text.format).toEqual({ ...format, description: null } as never)
    expect(response.tools).toEqual([{ ...WEATHER, strict: null }] as never)
    const { type, ...json_schema } = format
    expect(sent()[0]).toMatchObject({
      temperature: 0.5,
      top_p: 0.9,
      max_tokens: 16,
      response_format: { type, json_schema },
      reasoning_effort: 'medium',
    })
  })

  test('a conversation remembers, and says that it is stored', async () => {
    const chat = await tenant()
    const first = await chat.whole({ input: 'I am Ann.', conversation: 'c1' })
    expect(first).toMatchObject({ store: true, conversation: { id: 'c1' } })
    await chat.whole({ input: 'Who am I?', conversation: { id: 'c1' }, store: true })
    expect(lastMessages()).toHaveLength(4)
    await chat.whole({ input: 'hi' }, { 'X-Moonbase-Session': 'c2' })
    expect((await chat.sessions()).map(({ id }) => id)).toEqual(['c2', 'c1'])
    expect((await chat.whole({ input: 'hi', store: true })).store).toBe(false)
  })

  test('the knowledge base is searched where file_search is among the tools', async () => {
    const chat = await tenant()
    await chat.call('POST', '/kb/docs', { title: '保修', text: '整机保修两年，电池一年。' })
    const input = '整机保修两年，电池一年'
    expect(kindsOf(await chat.whole({ input }))).toEqual(['message'])
    expect(JSON.stringify(sent().at(-1)?.tools)).not.toContain('search_knowledge_base')
    const { events, response } = await chat.stream({ input, tools: [SEARCH] })
    const search = {
      type: 'file_search_call',
      status: 'completed',
      queries: [input],
      results: null,
    }
    expect(response.output).toMatchObject([search, { type: 'message' }])
    expect(textsOf(response)).toMatchObject([
      { annotations: [{ type: 'url_citation', title: '保修 #0' }] },
    ])
    expect(events.some(({ type }) => type.endsWith('annotation.added'))).toBe(true)
    expect(response.moonbase).toMatchObject({ kb_refs: [{ title: '保修' }] })
    expect((await chat.whole({ input, tools: [SEARCH] })).output).toMatchObject([
      search,
      { type: 'message' },
    ])
  })

  test('server tools show beside the answer, and a search of the model as an item', async () => {
    const chat = await tenant()
    await chat.call('POST', '/kb/docs', { title: 'x', text: '无关的资料。' })
    const call = { name: 'search_knowledge_base', arguments: { query: '质保' } }
    const script = () => {
      server.platform.reply({ pieces: ['Wait. '], toolCalls: [call] })
      server.platform.reply({ toolCalls: [{ name: 'current_time', arguments: {} }] })
      server.platform.reply({ text: 'Done.' })
    }
    script()
    const asked = { ...HI, tools: [SEARCH] }
    const { events, response } = await chat.stream(asked)
    const types = ['message', 'file_search_call', 'message']
    expect(kindsOf(response)).toEqual(types)
    expect(response.output[1]).toMatchObject({ queries: ['质保'] })
    const results = [
      { name: 'search_knowledge_base', ok: true },
      { name: 'current_time', ok: true },
    ]
    expect(response.moonbase).toMatchObject({ tool_results: results, stats: { iterations: 3 } })
    expect(events.flatMap(({ moonbase }) => moonbase ?? [])).toEqual([{ tool_results: results }])
    script()
    const whole = await chat.whole(asked)
    expect(kindsOf(whole)).toEqual(types)
    expect(textsOf(whole).map(({ text }) => text)).toEqual(['Wait. ', 'Done.'])
  })
})
