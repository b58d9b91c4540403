import type { ThinkingForm } from '../ports/llm.ts'

type Family = Exclude<ThinkingForm, 'auto'>

/** Vendors by host. They decide before the model's name does: some serve models of others. */
const HOSTS: readonly (readonly [RegExp, Family])[] = [
  [/dashscope|(^|\.)(aliyuncs\.com|siliconflow\.(cn|com))$/, 'enable_thinking'],
  [
    /(^|\.)(deepseek\.com|bigmodel\.cn|z\.ai|volces\.com|volcengine\.com|bytepluses\.com)$/,
    'thinking',
  ],
  [/(^|\.)(moonshot\.(cn|ai)|minimaxi?\.(com|io|chat))$/, 'thinking'],
  [
    /(^|\.)(openai\.com|azure\.com|openrouter\.ai|groq\.com|x\.ai|googleapis\.com)$/,
    'reasoning_effort',
  ],
]
const MODELS: readonly (readonly [RegExp, Family])[] = [
  [/deepseek|glm|doubao|kimi|moonshot|minimax|abab/, 'thinking'],
  [/qwen|qwq/, 'enable_thinking'],
]

/** Body fields that turn thinking on or off (contract, section 4, fine points). */
export function thinkingFields(
  form: ThinkingForm,
  on: boolean,
  host: string,
  model: string,
): Record<string, unknown> {
  switch (form === 'auto' ? familyOf(host.toLowerCase(), model.toLowerCase()) : form) {
    case 'enable_thinking':
      return { enable_thinking: on }
    case 'thinking':
      return { thinking: { type: on ? 'enabled' : 'disabled' } }
    case 'reasoning_effort':
      // No vendor-wide way to switch it off: an unknown value is refused.
      return on ? { reasoning_effort: 'medium' } : {}
    case 'none':
      return {}
  }
}

function familyOf(host: string, model: string): Family {
  const match =
    HOSTS.find(([pattern]) => pattern.test(host)) ?? MODELS.find(([pattern]) => pattern.test(model))
  return match?.[1] ?? 'reasoning_effort'
}
