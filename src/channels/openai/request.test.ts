import { expect, test } from 'bun:test'
import type { LlmRequest } from '../ports/llm.ts'
import { chatBody } from './request.ts'

const REQUEST: LlmRequest = {
  purpose: 'turn',
  model: 'm',
  messages: [],
  passages: [{ title: 't', seq: 0, text: 'x' }],
  tools: [],
  thinking: false,
  temperature: null,
}

test('messages of every role', () => {
  const image = 'data:image/png;base64,AA=='
  const call = { id: 'c1', name: 'f', arguments: '{"a":1}' }
  const { messages } = chatBody({
    ...REQUEST,
    messages: [
      { role: 'system', content: 's' },
      { role: 'user', content: 'plain' },
      { role: 'user', content: 'see', images: [image, 'https://x.example/y.png'] },
      { role: 'user', content: '', images: [image] },
      { role: 'assistant', content: 'a' },
      { role: 'assistant', content: '', toolCalls: [call] },
      { role: 'assistant', content: 'b', toolCalls: [{ ...call, arguments: '{"a":' }] },
      { role: 'tool', callId: 'c1', content: 'done' },
    ],
  })
  const wire = (args: string) => [
    { id: 'c1', type: 'function', function: { name: 'f', arguments: args } },
  ]
  const url = (text: string) => ({ type: 'image_url', image_url: { url: text } })
  expect(messages).toEqual([
    { role: 'system', content: 's' },
    { role: 'user', content: 'plain' },
    {
      role: 'user',
      content: [{ type: 'text', text: 'see' }, url(image), url('https://x.example/y.png')],
    },
    { role: 'user', content: [url(image)] },
    { role: 'assistant', content: 'a' },
    { role: 'assistant', content: null, tool_calls: wire('{"a":1}') },
    { role: 'assistant', content: 'b', tool_calls: wire('{}') },
    { role: 'tool', tool_call_id: 'c1', content: 'done' },
  ])
})

test('temperature and tools only when there are any', () => {
  expect(Object.keys(chatBody(REQUEST))).toEqual(['stream', 'messages'])
  const tool = { name: 'f', description: 'd', parameters: { type: 'object' } }
  const body = chatBody({ ...REQUEST, temperature: 0, tools: [tool] })
  expect(body.temperature).toBe(0)
  expect(body.tools).toEqual([{ type: 'function', function: tool }])
})
