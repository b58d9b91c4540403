import { expect, test } from 'bun:test'
import type { ThinkingForm } from '../ports/llm.ts'
import { thinkingFields } from './thinking.ts'

const FORMS = {
  enable_thinking: [{ enable_thinking: true }, { enable_thinking: false }],
  thinking: [{ thinking: { type: 'enabled' } }, { thinking: { type: 'disabled' } }],
  reasoning_effort: [{ reasoning_effort: 'medium' }, {}],
  none: [{}, {}],
} as const

const FAMILIES: readonly (readonly [host: string, model: string, form: keyof typeof FORMS])[] = [
  ['dashscope.aliyuncs.com', 'qwen-plus', 'enable_thinking'],
  ['dashscope-intl.aliyuncs.com', 'deepseek-v3', 'enable_thinking'],
  ['api.siliconflow.cn', 'deepseek-ai/DeepSeek-V3.1', 'enable_thinking'],
  ['127.0.0.1', 'qwen3:8b', 'enable_thinking'],
  ['llm.example.com', 'Qwen/Qwen3-32B', 'enable_thinking'],
  ['llm.example.com', 'QwQ-32B', 'enable_thinking'],
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
  test(`auto: ${host} ${model}`, () => {
    expect(thinkingFields('auto', true, host, model)).toEqual(FORMS[form][0])
    expect(thinkingFields('auto', false, host, model)).toEqual(FORMS[form][1])
  })
}

for (const [form, [on, off]] of Object.entries(FORMS)) {
  test(`fixed: ${form}`, () => {
    expect(thinkingFields(form as ThinkingForm, true, 'api.deepseek.com', 'x')).toEqual(on)
    expect(thinkingFields(form as ThinkingForm, false, 'api.deepseek.com', 'x')).toEqual(off)
  })
}
