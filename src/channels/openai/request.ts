import { parseUntrustedJson } from '../../core/json.ts'
import type {
  ForcedTool,
  LlmMessage,
  LlmRequest,
  Sampling,
  ThinkingForm,
  ToolCall,
  ToolSpec,
} from '../../upstream/ports/llm.ts'

/** The body of a streamed chat completion without the model and the optional fields. */
export function chatBody(request: LlmRequest, host: string): Record<string, unknown> {
  const { messages, tools, temperature, sampling, forcedTool } = request
  return {
    stream: true,
    messages: messages.map(wireMessage),
    ...(tools.length === 0 ? {} : { tools: tools.map(wireTool) }),
    ...(temperature === null ? {} : { temperature }),
    ...(sampling ? requiredFields(sampling, host) : {}),
    // Refused without tools.
    ...(forcedTool && tools.length > 0 ? { tool_choice: wireChoice(forcedTool) } : {}),
  }
}

/** The text and images of a request, in UTF-16 units. */
export function textUnits({ messages }: LlmRequest): number {
  let units = 0
  for (const message of messages) {
    units += message.content.length
    if (message.role !== 'user' || !message.images) continue
    for (const image of message.images) units += image.length
  }
  return units
}

/** Fields that are never left out: without them the answer is not what the caller asked for. */
function requiredFields(sampling: Sampling, host: string) {
  const { stop, maxTokensAtWill, responseFormat } = sampling
  return {
    ...(stop === undefined ? {} : { stop }),
    ...(maxTokensAtWill ? {} : tokensField(sampling, host)),
    ...(responseFormat === undefined ? {} : { response_format: responseFormat }),
  }
}

function tokensField({ maxTokens }: Sampling, host: string): Record<string, unknown> {
  const name = TOKENS_OF_NEW_MODELS.test(host) ? 'max_completion_tokens' : 'max_tokens'
  return maxTokens === undefined ? {} : { [name]: maxTokens }
}

/** Hosts whose reasoning models refuse `max_tokens`, the only name that nearly all others know. */
const TOKENS_OF_NEW_MODELS = /(^|\.)(openai|azure)\.com$/

/** Fields that not every upstream knows, and without which the answer is as useful. */
export function optionalFields(
  { sampling, tools }: LlmRequest,
  host = '',
): Record<string, unknown> {
  if (!sampling) return {}
  const { topP, presencePenalty, frequencyPenalty, seed, parallelToolCalls } = sampling
  return {
    ...(sampling.maxTokensAtWill ? tokensField(sampling, host) : {}),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(presencePenalty === undefined ? {} : { presence_penalty: presencePenalty }),
    ...(frequencyPenalty === undefined ? {} : { frequency_penalty: frequencyPenalty }),
    ...(seed === undefined ? {} : { seed }),
    // Refused without tools.
    ...(parallelToolCalls === undefined || tools.length === 0
      ? {}
      : { parallel_tool_calls: parallelToolCalls }),
  }
}

const wireChoice = (forced: ForcedTool) =>
  forced === 'required' ? forced : { type: 'function', function: { name: forced.name } }

function wireTool(tool: ToolSpec): object {
  if (tool.description !== '') return { type: 'function', function: tool }
  const { description: _, ...undescribed } = tool
  return { type: 'function', function: undescribed }
}

function wireMessage(message: LlmMessage): object {
  switch (message.role) {
    case 'system':
      return message
    case 'user':
      if (!message.images) return message
      return { role: 'user', content: userContent(message.content, message.images) }
    case 'tool':
      return { role: 'tool', tool_call_id: message.callId, content: message.content }
    case 'assistant':
      if (!message.toolCalls) return message
      if (message.toolCalls.length === 0) return { role: 'assistant', content: message.content }
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

/** With arguments that are valid JSON: several upstreams refuse earlier calls with others. */
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

type Family = Exclude<ThinkingForm, 'auto'> | 'template' | 'self_hosted'

/** Vendors by host. The host has precedence over the model's name: some serve models of others. */
const HOSTS: readonly (readonly [RegExp, Family])[] = [
  // llama.cpp has no field of its own, but passes values to the model's template (llama/server.ts).
  [/^model-pack$/, 'template'],
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
  [/qwen|qwq/, 'self_hosted'],
]

/** Body fields that turn thinking on or off. */
export function thinkingFields(
  form: ThinkingForm,
  on: boolean,
  host: string,
  model: string,
): Record<string, unknown> {
  switch (form === 'auto' ? familyOf(host.toLowerCase(), model.toLowerCase()) : form) {
    case 'enable_thinking':
      return { enable_thinking: on }
    case 'template':
      return { chat_template_kwargs: { enable_thinking: on } }
    case 'self_hosted':
      // vLLM, SGLang and llama.cpp read the second field; servers ignore the one they do not know.
      return { enable_thinking: on, chat_template_kwargs: { enable_thinking: on } }
    case 'thinking':
      return { thinking: { type: on ? 'enabled' : 'disabled' } }
    case 'reasoning_effort':
      // No value switches it off for all models of the vendor, and an unknown value is refused.
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
