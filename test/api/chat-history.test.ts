import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { chatTenant, clientTool, user } from '../support/completions.ts'
import { type Failover, startFailover } from '../support/failover.ts'
import { responseTenant } from '../support/open-responses.ts'

let server: Failover
beforeAll(async () => {
  server = await startFailover()
})
afterEach(() => server.reset())
afterAll(() => server[Symbol.asyncDispose]())

const LAMP = clientTool('lamp')
const HI = { messages: [user('hi')], tools: [LAMP] }
const RESPONSE = { input: 'hi', tools: [{ type: 'function', ...LAMP.function }] }
const sent = () => server.asked(server.platform).map(({ body }) => body)

describe('calls that have no result', () => {
  const call = (id: string) => ({
    id,
    type: 'function',
    function: { name: 'lamp', arguments: '{}' },
  })
  const called = (...ids: string[]) => ({
    role: 'assistant',
    content: null,
    tool_calls: ids.map(call),
  })
  const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'on' })
  const none = { role: 'tool', content: 'There is no result: the call was interrupted.' }

  test('an interrupted call gets a result that says so', async () => {
    const chat = await chatTenant(server.app)
    const ask = async (...messages: object[]) => {
      await chat.whole({ ...HI, messages })
      return sent().at(-1)?.messages.slice(1) as object[]
    }
    expect(await ask(user('hi'), called('a'), user('never mind'))).toMatchObject([
      user('hi'),
      { role: 'assistant' },
      { ...none, tool_call_id: 'a' },
      user('never mind'),
    ])
    expect(await ask(user('hi'), called('a', 'b'), result('b'), user('go on'))).toMatchObject([
      user('hi'),
      { role: 'assistant' },
      result('b'),
      { ...none, tool_call_id: 'a' },
      user('go on'),
    ])
    expect(await ask(user('hi'), called('a', 'b'), result('a'))).toMatchObject([
      user('hi'),
      { role: 'assistant' },
      result('a'),
      { ...none, tool_call_id: 'b' },
    ])
    const twice = await ask(user('hi'), called('a'), called('b'), result('b'))
    expect(twice).toMatchObject([
      user('hi'),
      { role: 'assistant' },
      { ...none, tool_call_id: 'a' },
      { role: 'assistant' },
      result('b'),
    ])
  })

  test('results of responses follow their calls, wherever they stand', async () => {
    const chat = await responseTenant(server.app)
    const item = (id: string) => ({
      ...{ type: 'function_call', call_id: id, name: 'lamp', arguments: '{}' },
    })
    const output = (id: string) => ({ type: 'function_call_output', call_id: id, output: 'on' })
    const input = [user('hi'), item('a'), item('b'), user('wait'), output('b'), user('go on')]
    await chat.stream({ ...RESPONSE, input })
    expect(sent()[0]?.messages.slice(1)).toMatchObject([
      user('hi'),
      { role: 'assistant', tool_calls: [{ id: 'a' }, { id: 'b' }] },
      result('b'),
      { ...none, tool_call_id: 'a' },
      user('wait'),
      user('go on'),
    ])
    await chat.whole({ input: [user('hi'), item('a'), output('a'), output('a')] })
    expect(sent()[1]?.messages.slice(1)).toMatchObject([
      user('hi'),
      { role: 'assistant', tool_calls: [{ id: 'a' }] },
      result('a'),
    ])
  })
})

test('an operator sets how long a conversation may be', async () => {
  await using wide = await startFailover({
    MB_CHAT_CHARS_MAX: '2000000',
    MB_CHAT_MESSAGES_MAX: '10000',
  })
  const chat = await chatTenant(wide.app)
  const long = user('字'.repeat(1_999_999))
  expect((await chat.whole({ messages: [long, user('a')], kb: false })).status).toBe(200)
  const { status, body } = await chat.whole({ messages: [long, user('ab')], kb: false })
  expect([status, body.error.code]).toEqual([400, 'context_length_exceeded'])
  const many = (count: number) => Array.from({ length: count }, () => user('a'))
  expect((await chat.whole({ messages: many(10_000), kb: false })).status).toBe(200)
  expect((await chat.whole({ messages: many(10_001), kb: false })).status).toBe(400)
  const responses = await responseTenant(wide.app)
  expect((await responses.whole({ input: many(10_000) })).status).toBe('completed')
  expect((await responses.send({ input: many(10_001) })).status).toBe(400)
})
