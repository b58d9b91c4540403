import { afterAll, afterEach, expect, test } from 'bun:test'
import { TOOL_CALLS_PER_TURN_MAX } from '../../src/core/limits/machine.ts'
import { TOOL_CALLS_MAX } from '../../src/core/limits/upstream.ts'
import { startConversation } from '../support/conversation.ts'

const conversation = await startConversation()
const { app, upstream, freshSession, ask } = conversation
afterEach(() => upstream.reset())
afterAll(conversation.stop)

const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
const calls = (count: number) =>
  Array.from({ length: count }, () => ({ name: 'calculator', arguments: { expression: '6*7' } }))
const withArguments = (text: string) =>
  `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"calculator",` +
  `"arguments":${text}}}]},"finish_reason":"tool_calls"}]}`

/** How a turn ends whose model answers like this. */
async function endOf(...payloads: string[]) {
  upstream.reply({ payloads })
  const stream = await ask({ text: 'hi', session_id: freshSession() })
  return (await stream.all()).map(({ data }) => data)
}

test.each([
  ['a chunk that nests without end', `${'['.repeat(400_000)}${']'.repeat(400_000)}`],
  ['arguments that nest without end', withArguments(nested(100_000))],
  ['a chunk of nothing but commas', `{"choices":[${'0,'.repeat(400_000)}0]}`],
])('a model that sends %s is reported as a malformed stream', async (_, payload) => {
  expect(await endOf(payload)).toEqual([
    {
      type: 'error',
      message: '模型服务的回复中断或格式异常，请重试',
      code: 'model_provider_error',
    },
  ])
  expect(app.log()).not.toContain('turn failed')
})

test('tool arguments that nest without end fail the call and not the turn', async () => {
  const text = JSON.stringify('['.repeat(500_000))
  const events = await endOf(withArguments(text))
  expect(events.map(({ type }) => type)).toEqual([
    'tool_call',
    'tool_result',
    'llm_delta',
    'stats',
    'llm_end',
  ])
  expect(events[1]).toEqual({ type: 'tool_result', name: 'calculator', ok: false })
})

test('a round of too many tool calls ends the turn before any of them runs', async () => {
  upstream.reply({ toolCalls: calls(TOOL_CALLS_MAX + 1) })
  const stream = await ask({ text: 'hi', session_id: freshSession() })
  expect((await stream.all()).map(({ data }) => data)).toEqual([
    {
      type: 'error',
      message: '模型服务的回复中断或格式异常，请重试',
      code: 'model_provider_error',
    },
  ])
})

test('a message with more tool calls than a turn may have is answered all the same', async () => {
  upstream.reply({ toolCalls: calls(TOOL_CALLS_PER_TURN_MAX + 12) })
  const events = await endOf('{"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}')
  const results = events.filter(({ type }) => type === 'tool_result')
  expect(results).toHaveLength(TOOL_CALLS_PER_TURN_MAX + 12)
  expect(results.filter(({ ok }) => ok)).toHaveLength(TOOL_CALLS_PER_TURN_MAX)
  expect(events.at(-1)).toEqual({ type: 'llm_end', reply: 'ok', seq: 1 })
})

test('rounds full of tool calls run only as many calls as a turn may have', async () => {
  upstream.chat.always({ toolCalls: calls(TOOL_CALLS_MAX) })
  const stream = await ask({ text: 'hi', session_id: freshSession() })
  const events = (await stream.all()).map(({ data }) => data)
  const results = events.filter(({ type }) => type === 'tool_result')
  expect(results).toHaveLength(7 * TOOL_CALLS_MAX)
  expect(results.filter(({ ok }) => ok)).toHaveLength(TOOL_CALLS_PER_TURN_MAX)
  expect(events.at(-1)?.type).toBe('error')
})
