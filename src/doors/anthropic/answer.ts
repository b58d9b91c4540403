import type { AgentEvent } from '../../features/agent/events.ts'
import type { ModelAnswer } from '../../features/agent/model-loop.ts'
import type { ToolCall } from '../../upstream/ports/llm.ts'
import { inputOf } from '../shared/calls.ts'
import { extensionOf, reasoningOf } from '../shared/extension.ts'

/** What all events of one answer share. */
export interface MessageHead {
  readonly id: string
  readonly model: string
}

/** Clients send it back; the block is dropped then. */
export const SIGNATURE = 'moonbase'

export const usageOf = (inputTokens: number, outputTokens: number) => ({
  input_tokens: inputTokens,
  output_tokens: outputTokens,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
})

export const messageOf = (
  { id, model }: MessageHead,
  content: readonly object[],
  stopReason: string | null,
  usage: object,
) => ({
  id,
  type: 'message',
  role: 'assistant',
  model,
  content,
  stop_reason: stopReason,
  stop_sequence: null,
  stop_details: null,
  usage,
})

/** A whole message. `events` are those of the turn. */
export function wholeMessage(
  head: MessageHead,
  answer: ModelAnswer,
  events: readonly AgentEvent[],
) {
  const { text, clientCalls, usage } = answer
  const thinking = reasoningOf(events)
  const content = [
    ...(thinking === '' ? [] : [{ type: 'thinking', thinking, signature: SIGNATURE }]),
    ...(text === '' && clientCalls.length > 0 ? [] : [{ type: 'text', text }]),
    ...clientCalls.map((call) => ({ ...toolUse(call), input: inputOf(call) })),
  ]
  const used = usageOf(usage.inputTokens, usage.outputTokens)
  const message = messageOf(head, content, stopReasonOf(answer), used)
  return { ...message, moonbase: extensionOf(answer, events) }
}

export const toolUse = ({ id, name }: ToolCall) => ({ type: 'tool_use', id, name, input: {} })

/** The arguments as JSON of an object, whatever the model wrote. */
export function argumentsOf(call: ToolCall): string {
  const input = inputOf(call)
  return Object.keys(input).length > 0 ? call.arguments : '{}'
}

/** Reports that an answer was cut even when it has calls: their input may be incomplete. */
export function stopReasonOf({ finish, clientCalls }: ModelAnswer): string {
  if (finish === 'length') return 'max_tokens'
  if (finish === 'content_filter') return 'refusal'
  return clientCalls.length > 0 ? 'tool_use' : 'end_turn'
}
