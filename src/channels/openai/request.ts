import { parseUntrustedJson } from '../../core/json.ts'
import type { LlmMessage, LlmRequest, ThinkingForm, ToolCall } from '../ports/llm.ts'

/** The body of a streamed chat completion but for the model and the optional fields. */
export function chatBody(request: LlmRequest): Record<string, unknown> {
  return {
    stream: true,
    messages: request.messages.map(wireMessage),
    ...(request.tools.length === 0
      ? {}
      : { tools: request.tools.map((tool) => ({ type: 'function', function: { ...tool } })) }),
    ...(request.temperature === null ? {} : { temperature: request.temperature }),
  }
}

/** The text and images of a request, in UTF-16 units. */
export const textUnits = ({ messages }: LlmRequest): number =>
  messages.reduce((sum, message) => {
    const images = message.role === 'user' ? (message.images ?? []) : []
    return images.reduce((units, { length }) => units + length, sum + message.content.length)
  }, 0)

function wireMessage(message: LlmMessage): object {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.content }
    case 'user':
      return { role: 'user', content: userContent(message.content, message.images ?? []) }
    case 'tool':
      return { role: 'tool', tool_call_id: message.callId, content: message.content }
    case 'assistant':
      if (!message.toolCalls?.length) return { role: 'assistant', content: message.content }
      return {
        role: 'assistant',
        content: message.content === '' ? null : message.content,
        tool_calls: message.toolCalls.map(wireCall),
      }
  }
}

function userContent(text: string, images: readonly string[]): string | object[] {
  if (images.length === 0) return text
  return [
    ...(text === '' ? [] : [{ type: 'text', text }]),
    ...images.map((url) => ({ type: 'image_url', image_url: { url } })),
  ]
}

/** Several upstreams parse the arguments of earlier calls, and refuse the request otherwise. */
function wireCall(call: ToolCall): object {
  const args = isJsonObject(call.arguments) ? call.arguments : '{}'
  return { id: call.id, type: 'function', function: { name: call.name, arguments: args } }
}

function isJsonObject(text: string): boolean {
  try {
    const value = parseUntrustedJson(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

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
