import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { chatTenant, clientTool, user } from '../support/completions.ts'
import { type Failover, startFailover } from '../support/failover.ts'
import { responseTenant } from '../support/open-responses.ts'

let server: Failover
beforeAll(async () => {
  server = await startFailover({ MB_LLM_THINKING: 'enable_thinking' })
})
afterEach(() => server.reset())
afterAll(() => server[Symbol.asyncDispose]())

const LAMP = clientTool('lamp')
const HI = { messages: [user('hi')], tools: [LAMP] }
const RESPONSE = { input: 'hi', tools: [{ type: 'function', ...LAMP.function }] }
const LAMP_CALL = { name: 'lamp', id: 'call_l', arguments: { name: 'desk' } }
const sent = () => server.asked(server.platform).map(({ body }) => body)
/** The names of the tools in each request that the model got. */
const offered = () =>
  sent().map(({ tools = [] }) =>
    (tools as { function: { name: string } }[]).map(({ function: { name } }) => name),
  )
const refuse = (message: string, times = 1) => {
  for (let i = 0; i < times; i++) {
    server.platform.fault(400, { body: JSON.stringify({ error: { message } }) })
  }
}

/** The same request at both doors, whole and streamed; each gives the calls or the error. */
async function doors() {
  const chat = await chatTenant(server.app)
  const responses = await responseTenant(server.app)
  const callsOf = (output: readonly object[]) =>
    output.filter((item) => 'call_id' in item).map((item) => ({ id: item.call_id }))
  return [
    async () => {
      const { body } = await chat.whole(HI)
      return body.error ?? body.choices[0].message.tool_calls
    },
    async () => {
      const { calls, error } = await chat.stream(HI)
      return error ?? calls
    },
    async () => {
      const response = await responses.send(RESPONSE)
      const body = (await response.json()) as { error: object | null; output: object[] }
      return body.error ?? callsOf(body.output)
    },
    async () => {
      const { events, response } = await responses.stream(RESPONSE)
      const failed = events.find((event) => event.type === 'error')
      return failed?.error ?? callsOf(response.output)
    },
  ]
}

describe('a model that refuses tools', () => {
  const REFUSALS = [
    'strict-1 does not support tools',
    '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    "Invalid schema for function 'current_time': additionalProperties is required to be false",
  ]
  test.each(REFUSALS)("only the server's tools are left out after: %s", async (message) => {
    for (const ask of await doors()) {
      server.reset()
      refuse(message)
      server.platform.reply({ toolCalls: [LAMP_CALL] })
      expect(await ask()).toMatchObject([{ id: 'call_l' }])
      const [first = [], second] = offered()
      expect(first.length).toBeGreaterThan(1)
      expect(second).toEqual(['lamp'])
    }
  })

  test("a refusal of the client's tools is an error of the request", async () => {
    for (const ask of await doors()) {
      server.reset()
      refuse("Invalid schema for function 'lamp'", 2)
      expect(await ask()).toMatchObject({ type: 'invalid_request_error', code: 'upstream_4xx' })
      expect(offered()).toHaveLength(2)
    }
  })

  test('a conversation that is too long keeps its tools and is refused as such', async () => {
    const message =
      "This model's maximum context length is 8192 tokens. However, your messages resulted in " +
      '9000 tokens (8000 in the messages, 1000 in the functions).'
    for (const ask of await doors()) {
      server.reset()
      refuse(message)
      expect(await ask()).toMatchObject({
        type: 'invalid_request_error',
        code: 'context_length_exceeded',
      })
      expect(offered()).toHaveLength(1)
    }
  })

  test('a refusal of the history takes no tools away', async () => {
    for (const ask of await doors()) {
      server.reset()
      refuse("An assistant message with 'tool_calls' must be followed by tool messages")
      expect(await ask()).toMatchObject({ type: 'upstream_error', code: 'upstream_4xx' })
      expect(offered()).toHaveLength(1)
    }
  })

  test("a person's question is answered without tools, as before", async () => {
    const chat = await chatTenant(server.app)
    refuse('tools are not supported')
    const answer = await chat.whole({ messages: HI.messages })
    expect(answer.body.choices[0].message.content).toBe('好的')
    expect(offered()[1]).toEqual([])
  })
})

describe("a client's tools", () => {
  const EMPTY = [
    { ...LAMP, function: { name: 'a', parameters: {} } },
    { ...LAMP, function: { name: 'b', parameters: null } },
    { ...LAMP, function: { name: 'c' } },
    { ...LAMP, function: { name: 'd', parameters: { properties: { x: { type: 'string' } } } } },
  ]
  test('parameters that say nothing are sent as an object without properties', async () => {
    const none = { type: 'object', properties: {} }
    const one = { type: 'object', properties: { x: { type: 'string' } } }
    const chat = await chatTenant(server.app)
    await chat.whole({ ...HI, tools: EMPTY })
    const responses = await responseTenant(server.app)
    const flat = EMPTY.map((tool) => ({ type: 'function', ...tool.function }))
    await responses.whole({ input: 'hi', tools: flat })
    for (const { tools = [] } of sent()) {
      const schemas = (tools as { function: { parameters: object } }[]).slice(-4)
      expect(schemas.map((tool) => tool.function.parameters)).toEqual([none, none, none, one])
    }
  })

  test("a required call is one of the client's tools", async () => {
    const chat = await chatTenant(server.app)
    await chat.whole({ ...HI, tool_choice: 'required' })
    const responses = await responseTenant(server.app)
    await responses.stream({ ...RESPONSE, tool_choice: 'required' })
    expect(offered()).toEqual([['lamp'], ['lamp']])
    expect(sent().map((body) => body.tool_choice)).toEqual(['required', 'required'])
    await chat.whole({ messages: HI.messages, tool_choice: 'required' })
    expect(offered()[2]).toContain('calculator')
  })

  test('a list of allowed tools leaves the others out', async () => {
    const tools = [LAMP, clientTool('door'), clientTool('oven')]
    const chat = await chatTenant(server.app)
    const named = (name: string) => ({ type: 'function', function: { name } })
    const allowed = (mode: string, ...names: string[]) => ({
      type: 'allowed_tools',
      allowed_tools: { mode, tools: names.map(named) },
    })
    await chat.whole({ ...HI, tools, tool_choice: allowed('auto', 'door') })
    await chat.whole({ ...HI, tools, tool_choice: allowed('required', 'door', 'oven') })
    expect(offered()[0]).toContain('calculator')
    expect(offered()[0]).not.toContain('lamp')
    expect(offered()[1]).toEqual(['door', 'oven'])
    const responses = await responseTenant(server.app)
    const flat = tools.map((tool) => ({ type: 'function', ...tool.function }))
    const choice = {
      type: 'allowed_tools',
      mode: 'required',
      tools: [{ type: 'function', name: 'oven' }],
    }
    await responses.stream({ input: 'hi', tools: flat, tool_choice: choice })
    expect(offered()[2]).toEqual(['oven'])
    for (const wrong of [allowed('auto', 'window'), allowed('required')]) {
      const refused = await chat.whole({ ...HI, tools, tool_choice: wrong })
      expect([refused.status, refused.body.error.param]).toEqual([400, 'tool_choice'])
    }
  })
})

describe('the reasoning of a model', () => {
  const ANSWER = { text: 'yes', reasoning: 'Is it? It is.' }
  const HIGH = { messages: HI.messages, reasoning_effort: 'high' }

  test('reasoning is shown where the model is to think', async () => {
    const chat = await chatTenant(server.app)
    server.platform.chat.always(ANSWER)
    const { body } = await chat.whole(HIGH)
    expect(body.choices[0].message).toMatchObject({
      content: 'yes',
      reasoning_content: ANSWER.reasoning,
    })
    const { order, chunks, text } = await chat.stream(HIGH)
    expect([order, text]).toEqual(['RrrCSD', 'yes'])
    const thoughts = chunks.map(({ choices }) => choices[0]?.delta.reasoning_content ?? '')
    expect(thoughts.join('')).toBe(ANSWER.reasoning)
  })

  test('reasoning is left out where the model is not to think', async () => {
    const chat = await chatTenant(server.app)
    server.platform.chat.always(ANSWER)
    const { messages } = HI
    expect((await chat.stream({ messages })).order).toBe('RCSD')
    const { body } = await chat.whole({ messages, reasoning_effort: 'none' })
    expect(body.choices[0].message).not.toHaveProperty('reasoning_content')
  })

  test('the reasoning of a channel that failed is not part of the answer', async () => {
    const chat = await chatTenant(server.app)
    const own = { base_url: server.byo.baseUrl, api_key: 'sk-x', failover: true }
    await chat.call('PUT', '/provider', own)
    server.byo.reply({ reasoning: 'Wrong.', text: '', finish: null, done: false })
    server.platform.reply(ANSWER)
    const { body } = await chat.whole(HIGH)
    expect(body.choices[0].message).toMatchObject({ reasoning_content: ANSWER.reasoning })
  })
})

test('a header keeps the knowledge base out of a chat completion', async () => {
  const chat = await chatTenant(server.app)
  await chat.call('POST', '/kb/docs', { title: '保修', text: '整机保修两年，电池一年。' })
  const messages = [user('整机保修两年，电池一年')]
  expect((await chat.whole({ messages })).body.moonbase).toHaveProperty('kb_refs')
  const { body } = await chat.whole({ messages }, { 'X-Moonbase-Kb': 'false' })
  expect(body.moonbase).not.toHaveProperty('kb_refs')
  expect(offered()[1]).not.toContain('search_knowledge_base')
})
