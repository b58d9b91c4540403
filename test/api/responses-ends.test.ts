import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { type Failover, startFailover } from '../support/failover.ts'
import { inputMessage as message, responseTenant, textsOf } from '../support/open-responses.ts'

let server: Failover
beforeAll(async () => {
  server = await startFailover()
})
afterEach(() => server.reset())
afterAll(() => server[Symbol.asyncDispose]())

const tenant = () => responseTenant(server.app)
const HI = { input: [message('user', 'hi')] }
const SEARCH = { type: 'file_search', vector_store_ids: ['kb'] }

describe('responses that end otherwise', () => {
  test('an answer that was cut is incomplete', async () => {
    const chat = await tenant()
    server.platform.chat.always({ pieces: ['half'], finish: 'length' })
    const { response } = await chat.stream({ ...HI, max_output_tokens: 16 })
    const cut = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
    expect(response).toMatchObject({
      ...cut,
      completed_at: null,
      output: [{ status: 'incomplete' }],
    })
    expect(await chat.whole(HI)).toMatchObject(cut)
  })

  test('a failure closes open items and ends with error and response.failed', async () => {
    const chat = await tenant()
    server.platform.fault('cut', { after: 2 })
    const { events, response } = await chat.stream({ ...HI, conversation: 'c' })
    expect(response).toMatchObject({ status: 'failed', error: { code: 'provider_error' } })
    expect(response.output).toMatchObject([
      { status: 'incomplete', content: [{ text: 'one two ' }] },
    ])
    expect(events.at(-2)).toMatchObject({ type: 'error', error: { type: 'upstream_error' } })
    expect(await chat.sessions()).toEqual([])
    server.platform.fault(401)
    const refused = await chat.refused(HI)
    expect(refused).toMatchObject({ status: 502, type: 'upstream_error', code: 'upstream_4xx' })
  })

  test('a takeover is announced, before any text where it is streamed', async () => {
    const chat = await tenant()
    const body = { base_url: server.byo.baseUrl, api_key: 'sk-x', failover: true }
    await chat.call('PUT', '/provider', body)
    server.byo.fault(401)
    const { events, response } = await chat.stream(HI)
    const told = { provider_fallback: { from: 'byo', reason: 'upstream_4xx' } }
    expect(events.find(({ moonbase }) => moonbase)).toMatchObject({
      type: 'response.output_item.added',
      moonbase: told,
    })
    expect(response.moonbase).toMatchObject(told)
    server.byo.fault('cut', { after: 1 })
    expect((await chat.stream(HI)).response.status).toBe('failed')
    server.byo.fault('cut', { after: 1 })
    const whole = await chat.whole(HI)
    expect(whole.headers.get('x-moonbase-channel')).toBe('platform_fallback')
    expect(textsOf(whole)).toMatchObject([{ text: '好的' }])
  })

  const REFUSED: readonly (readonly [
    what: string,
    body: object,
    param: string,
    code: string | null,
  ])[] = [
    ['nothing said', {}, 'input', null],
    ['blank text', { input: ' ' }, 'input', null],
    [
      'a reference to an item that is not kept',
      { input: [{ type: 'item_reference', id: 'x' }] },
      'input[0].id',
      'unsupported_value',
    ],
    [
      'a file without its bytes',
      { input: [message('user', [{ type: 'input_file' }])] },
      'input[0].content[0]',
      null,
    ],
    [
      'a result without its call',
      { input: [...HI.input, { type: 'function_call_output', call_id: 'x', output: '' }] },
      'input[1].call_id',
      null,
    ],
    [
      'an earlier response',
      { ...HI, previous_response_id: 'resp_1' },
      'previous_response_id',
      'unsupported_parameter',
    ],
    ['work in the background', { ...HI, background: true }, 'background', 'unsupported_value'],
    [
      'tools of another type',
      { ...HI, tools: [{ type: 'teleport' }] },
      'tools[0].type',
      'unsupported_value',
    ],
    [
      'a forced tool that is not offered',
      { ...HI, tool_choice: { type: 'function', name: 'x' } },
      'tool_choice',
      null,
    ],
    [
      '17 metadata',
      { ...HI, metadata: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [n, 'x'])) },
      'metadata',
      'unsupported_value',
    ],
    [
      'text beyond 400,000 characters',
      { input: 'x'.repeat(400_001) },
      'input',
      'context_length_exceeded',
    ],
    [
      'a long name of a conversation',
      { ...HI, conversation: 'x'.repeat(201) },
      'conversation',
      null,
    ],
    ['15 tokens', { ...HI, max_output_tokens: 15 }, 'max_output_tokens', null],
  ]
  test('a store that is no collection is not found', async () => {
    const chat = await tenant()
    const body = { ...HI, tools: [{ ...SEARCH, vector_store_ids: ['vs_1'] }] }
    expect(await chat.refused(body)).toMatchObject({ status: 404, code: 'not_found' })
  })

  test.each(REFUSED)('a response is refused for %s', async (_, body, param, code) => {
    const chat = await tenant()
    expect(await chat.refused(body)).toMatchObject({ status: 400, param, code })
    expect(server.platform.requests).toEqual([])
  })

  test('a refusal names what to use instead', async () => {
    const chat = await tenant()
    const refused = await chat.refused({ ...HI, previous_response_id: 'resp_1' })
    expect(refused).toMatchObject({ message: expect.stringContaining('conversation') } as object)
    const { message } = (await chat.refused({ ...HI, metadata: 'x' })) as { message?: string }
    expect(message).toBe('字段 metadata 类型错误，应为对象')
  })

  test("OpenAI's client creates and streams responses", async () => {
    const chat = await tenant()
    const options = { apiKey: chat.key, baseURL: `${server.app.url}/v1`, maxRetries: 0 }
    const client = new OpenAI(options)
    const response = await client.responses.create({ model: 'moonbase', input: 'hi' })
    expect(response.output_text).toBe('好的')
    server.platform.reply({ pieces: ['a', 'b'] })
    const stream = client.responses.stream({ model: 'moonbase', input: 'hi' })
    let text = ''
    stream.on('response.output_text.delta', ({ delta }) => {
      text += delta
    })
    const { output_text } = await stream.finalResponse()
    expect([text, output_text]).toEqual(['ab', 'ab'])
    server.platform.fault('cut', { after: 1 })
    const read = async () => {
      for await (const _ of await client.responses.create({ input: 'hi', stream: true }));
    }
    const error = await read().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ type: 'upstream_error', code: 'provider_error' })
  })

  test('the log has responses under their own label', async () => {
    const chat = await tenant()
    await chat.stream({ input: '你好', conversation: 'c' })
    await server.app.flush()
    const { logs } = await chat.call<{ logs: object[] }>('GET', '/logs')
    expect(logs).toMatchObject([
      { endpoint: '/v1/responses', session_id: 'c', text_chars: 2, channel: 'platform' },
    ])
  })
})
