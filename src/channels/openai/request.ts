import { parseUntrustedJson } from '../../core/json.ts'
import type { LlmMessage, LlmRequest, ToolCall } from '../ports/llm.ts'

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
