import { expect, test } from 'bun:test'
import type { LlmRequest, ThinkingForm } from '../../upstream/ports/llm.ts'
import { chatBody, optionalFields, thinkingFields } from './request.ts'

const HOST = 'llm.example.com'
const REQUEST: LlmRequest = {
  purpose: 'turn',
  model: 'm',
  messages: [],
  passages: [{ title: 't', seq: 0, text: 'x', page: null, heading: null }],
  tools: [],
  thinking: false,
  temperature: null,
}

test('a chat request holds messages of every role', () => {
  const image = 'data:image/png;base64,AA=='
  const call = { id: 'c1', name: 'f', arguments: '{"a":1}' }
  const { messages } = chatBody(
    {
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
    },
    HOST,
  )
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

test('a chat request has temperature and tools only when they are given', () => {
  expect(Object.keys(chatBody(REQUEST, HOST))).toEqual(['stream', 'messages'])
  const tool = { name: 'f', description: 'd', parameters: { type: 'object' } }
  const body = chatBody({ ...REQUEST, temperature: 0, tools: [tool] }, HOST)
  expect(body.temperature).toBe(0)
  expect(body.tools).toEqual([{ type: 'function', function: tool }])
})

test('a chat request has the wishes of its caller under the names of the channel', () => {
  const tools = [{ name: 'f', description: '', parameters: {}, strict: true }]
  const sampling = {
    topP: 0.5,
    presencePenalty: 1,
    frequencyPenalty: -1,
    seed: 7,
    stop: ['a', 'b'],
    maxTokens: 9,
    responseFormat: { type: 'json_object' as const },
    parallelToolCalls: false,
  }
  const request = { ...REQUEST, tools, sampling, forcedTool: { name: 'f' } }
  expect(chatBody(request, HOST)).toMatchObject({
    tools: [{ type: 'function', function: { name: 'f', parameters: {}, strict: true } }],
    tool_choice: { type: 'function', function: { name: 'f' } },
    stop: ['a', 'b'],
    max_tokens: 9,
    response_format: { type: 'json_object' },
  })
  expect(chatBody(request, 'api.openai.com')).toMatchObject({ max_completion_tokens: 9 })
  expect(optionalFields(request)).toEqual({
    top_p: 0.5,
    presence_penalty: 1,
    frequency_penalty: -1,
    seed: 7,
    parallel_tool_calls: false,
  })
  const without = { ...request, tools: [], forcedTool: 'required' as const }
  expect(chatBody(without, HOST)).not.toHaveProperty('tool_choice')
  expect(optionalFields(without)).not.toHaveProperty('parallel_tool_calls')
})

const FORMS = {
  enable_thinking: [{ enable_thinking: true }, { enable_thinking: false }],
  thinking: [{ thinking: { type: 'enabled' } }, { thinking: { type: 'disabled' } }],
  reasoning_effort: [{ reasoning_effort: 'medium' }, {}],
  none: [{}, {}],
  self_hosted: [
    { enable_thinking: true, chat_template_kwargs: { enable_thinking: true } },
    { enable_thinking: false, chat_template_kwargs: { enable_thinking: false } },
  ],
  template: [
    { chat_template_kwargs: { enable_thinking: true } },
    { chat_template_kwargs: { enable_thinking: false } },
  ],
} as const

const FAMILIES: readonly (readonly [host: string, model: string, form: keyof typeof FORMS])[] = [
  ['dashscope.aliyuncs.com', 'qwen-plus', 'enable_thinking'],
  ['dashscope-intl.aliyuncs.com', 'deepseek-v3', 'enable_thinking'],
  ['api.siliconflow.cn', 'deepseek-ai/DeepSeek-V3.1', 'enable_thinking'],
  ['127.0.0.1', 'qwen3:8b', 'self_hosted'],
  ['model-pack', 'Qwen3-4B-Q4_K_M', 'template'],
  ['llm.example.com', 'Qwen/Qwen3-32B', 'self_hosted'],
  ['llm.example.com', 'QwQ-32B', 'self_hosted'],
  ['api.deepseek.com', 'deepseek-chat', 'thinking'],
  ['open.bigmodel.cn', 'glm-4.6', 'thinking'],
  ['api.z.ai', 'glm-4.6', 'thinking'],
  ['ark.cn-beijing.volces.com', 'ep-2025', 'thinking'],
  ['api.moonshot.cn', 'kimi-latest', 'thinking'],
  ['api.minimaxi.com', 'MiniMax-M2', 'thinking'],
  ['api.minimax.chat', 'abab6', 'thinking'],
  ['localhost', 'deepseek-r1:7b', 'thinking'],
  ['localhost', 'DeepSeek-R1-Distill-Qwen-7B', 'thinking'],
  ['gateway.example.com', 'doubao-seed-1.6', 'thinking'],
  ['api.openai.com', 'gpt-5', 'reasoning_effort'],
  ['openrouter.ai', 'qwen/qwen3-32b', 'reasoning_effort'],
  ['localhost', 'gpt-oss:20b', 'reasoning_effort'],
  ['notdeepseek.com.example.org', 'x', 'reasoning_effort'],
  ['', '', 'reasoning_effort'],
]

for (const [host, model, form] of FAMILIES) {
  test(`thinking fields are chosen by host and model: ${host} ${model}`, () => {
    expect(thinkingFields('auto', true, host, model)).toEqual(FORMS[form][0])
    expect(thinkingFields('auto', false, host, model)).toEqual(FORMS[form][1])
  })
}

for (const [form, [on, off]] of Object.entries(FORMS)) {
  test(`thinking fields have the configured form: ${form}`, () => {
    expect(thinkingFields(form as ThinkingForm, true, 'api.deepseek.com', 'x')).toEqual(on)
    expect(thinkingFields(form as ThinkingForm, false, 'api.deepseek.com', 'x')).toEqual(off)
  })
}
