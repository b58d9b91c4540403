import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { type Call, caller } from '../support/api.ts'
import { startApp, type TestApp } from '../support/app.ts'
import { chatTenant, clientTool, user } from '../support/completions.ts'
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

const image = (url: string) => ({ type: 'image_url', image_url: { url, detail: 'low' } })
const HI = [user('hi')]
const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })
const calls = (...ids: string[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map(call),
})
const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'done' })

describe('chat completions that are refused', () => {
  const of = (more: object) => ({ messages: HI, ...more })
  const tool = (more: object) => of({ tools: [{ ...clientTool('f'), ...more }] })
  const part = (given: object) => ({ messages: [user([given])] })
  const TABLE: readonly (readonly [what: string, body: object, param: string, code?: string])[] = [
    ['n other than 1', of({ n: 2 }), 'n', 'unsupported_value'],
    ['functions', of({ functions: [] }), 'functions', 'unsupported_parameter'],
    ['function_call', of({ function_call: 'auto' }), 'function_call', 'unsupported_parameter'],
    ['audio', of({ audio: { voice: 'x' } }), 'audio', 'unsupported_parameter'],
    ['spoken answers', of({ modalities: ['text', 'audio'] }), 'modalities', 'unsupported_value'],
    ['sound', part({ type: 'input_audio' }), 'messages[0].content[0].type', 'unsupported_value'],
    ['a file of nothing', part({ type: 'file', file: {} }), 'messages[0].content[0].file'],
    [
      'a part of another type',
      part({ type: 'x' }),
      'messages[0].content[0].type',
      'unsupported_value',
    ],
    ['tools of another type', tool({ type: 'custom' }), 'tools[0].type', 'unsupported_value'],
    ['no messages', {}, 'messages'],
    ['an empty list of messages', of({ messages: [] }), 'messages'],
    ['1,001 messages', of({ messages: Array.from({ length: 1001 }, () => HI[0]) }), 'messages'],
    ['nobody to answer', of({ messages: [{ role: 'system', content: 'x' }] }), 'messages'],
    [
      'an answer as the last message',
      of({ messages: [...HI, { role: 'assistant', content: 'x' }] }),
      'messages[1].role',
    ],
    [
      'an unknown role',
      of({ messages: [{ role: 'robot', content: 'x' }] }),
      'messages[0].role',
      'unsupported_value',
    ],
    ['blank text', of({ messages: [user('  ')] }), 'messages[0].content'],
    ['text as a number', of({ messages: [user(5)] }), 'messages[0].content'],
    [
      'a result without its call',
      of({ messages: [...HI, result('x')] }),
      'messages[1].tool_call_id',
    ],
    [
      'a result of an earlier call',
      of({ messages: [...HI, calls('a'), result('a'), ...HI, result('a')] }),
      'messages[4].tool_call_id',
    ],
    ['129 tools', of({ tools: Array.from({ length: 129 }, () => clientTool('f')) }), 'tools'],
    ['a tool name with a space', of({ tools: [clientTool('a b')] }), 'tools[0].function.name'],
    [
      'a tool name of 65 characters',
      of({ tools: [clientTool('a'.repeat(65))] }),
      'tools[0].function.name',
    ],
    [
      'parameters that are no object schema',
      tool({ function: { name: 'f', parameters: { type: 'string' } } }),
      'tools[0].function.parameters',
    ],
    [
      'a forced tool that is not offered',
      of({ tools: [clientTool('f')], tool_choice: { type: 'function', function: { name: 'g' } } }),
      'tool_choice',
    ],
    [
      'a call id without end',
      of({ messages: [...HI, calls('x'.repeat(1_001)), ...HI] }),
      'messages[1].tool_calls[0].id',
    ],
    [
      'parts without end',
      of({ messages: [user(Array.from({ length: 3_001 }, () => ({ type: 'text', text: 'x' })))] }),
      'messages',
    ],
    [
      'arguments without end',
      of({
        messages: [
          ...HI,
          {
            role: 'assistant',
            tool_calls: [{ ...call('a'), function: { name: 'f', arguments: 'x'.repeat(900_000) } }],
          },
          ...HI,
        ],
      }),
      'messages',
      'context_length_exceeded',
    ],
    ['data that is no image', part(image('data:image/png;base64,A*AA')), 'messages'],
    ['an unknown tool choice', of({ tool_choice: 'maybe' }), 'tool_choice'],
    ['five stops', of({ stop: ['a', 'b', 'c', 'd', 'e'] }), 'stop'],
    ['no tokens', of({ max_tokens: 0 }), 'max_tokens'],
    ['too hot', of({ temperature: 2.1 }), 'temperature'],
    ['a stream as text', of({ stream: 'yes' }), 'stream'],
    ['a model as a number', of({ model: 4 }), 'model'],
    [
      'an unknown form',
      of({ response_format: { type: 'xml' } }),
      'response_format.type',
      'unsupported_value',
    ],
    ['a long session name', of({ session_id: 'x'.repeat(201) }), 'session_id'],
    [
      'an image over http',
      part(image('http://x.example/a.png')),
      'messages[0].content[0].image_url.url',
    ],
    [
      'an internal image',
      part(image('https://10.0.0.1/a.png')),
      'messages[0].content[0].image_url.url',
    ],
    [
      'text beyond 400,000 characters',
      of({ messages: [user('字'.repeat(400_001))] }),
      'messages',
      'context_length_exceeded',
    ],
    [
      'tools beyond half a megabyte',
      tool({ function: { name: 'f', description: 'x'.repeat(600_000) } }),
      'tools',
    ],
  ]

  const rows = TABLE.map(([what, body, param, code = null]) => [what, body, param, code] as const)
  test.each(rows)('a chat completion is refused for %s', async (_, body, param, code) => {
    const chat = await chatTenant(app)
    for (const stream of [false, true]) {
      const answer = await chat.whole({ stream, ...body })
      expect([answer.status, answer.body.error]).toEqual([
        400,
        { message: answer.body.error.message, type: 'invalid_request_error', param, code },
      ])
      expect(answer.body.error.message).toMatch(/\p{Script=Han}/u)
    }
    expect(upstream.requests).toEqual([])
  })

  test('text of exactly 400,000 characters is taken', async () => {
    const chat = await chatTenant(app)
    const { status } = await chat.whole({ messages: [user('😀'.repeat(400_000))], kb: false })
    expect(status).toBe(200)
  })

  test('errors of these paths are JSON with four keys, and those of others text', async () => {
    const { headers } = await chatTenant(app)
    const limited = await app.key('limited@example.com', { rateLimit: 1 })
    const as = (given: Record<string, string>): Call => caller(app.url, given)
    await as(limited.headers)('GET', '/v1/models')
    const path = '/v1/chat/completions'
    const cases = [
      [await as({})('POST', path, {}), 401, 'authentication_error', 'invalid_api_key'],
      [await as(limited.headers)('POST', path, {}), 429, 'rate_limit_error', 'rate_limit_exceeded'],
      [await as(headers)('GET', path), 405, 'invalid_request_error', 'method_not_allowed'],
      [await as(headers)('POST', path, '{'), 400, 'invalid_request_error', null],
      [await as(headers)('GET', '/v1/models/x'), 404, 'invalid_request_error', 'model_not_found'],
      [await as(headers)('GET', '/v1/batches'), 404, 'invalid_request_error', 'not_found'],
    ] as const
    for (const [answer, status, type, code] of cases) {
      expect(answer.status).toBe(status)
      const { error } = answer.json() as { error: Record<string, unknown> }
      expect(Object.keys(error).sort()).toEqual(['code', 'message', 'param', 'type'])
      expect(error).toMatchObject({ type, code })
    }
    const agent = await as(headers)('POST', '/v1/agent', '{')
    expect([agent.status, agent.headers.get('content-type')]).toEqual([
      400,
      'text/plain; charset=utf-8',
    ])
  })
})
