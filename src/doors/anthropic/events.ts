import type { AppError } from '../../core/errors.ts'
import type { AgentEvent, TurnStats } from '../../features/agent/events.ts'
import type { ModelAnswer } from '../../features/agent/model-loop.ts'
import { anthropicError } from '../../http/error-forms.ts'
import { endOf } from '../shared/extension.ts'
import { failureOf } from '../shared/failure.ts'
import {
  argumentsOf,
  type MessageHead,
  messageOf,
  SIGNATURE,
  stopReasonOf,
  toolUse,
  usageOf,
} from './answer.ts'

const frame = (type: string, fields: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`

const PING = frame('ping', {})
const STOP = frame('message_stop', {})
const ERROR_START = 'event: error\n'

export const errorFrame = (error: AppError, requestId: string): string =>
  `${ERROR_START}data: ${JSON.stringify(anthropicError(error, requestId))}\n\n`

/** How frames, which are text already, are streamed (http/sse.ts). */
export const frameStream = (stopped: () => string) => ({
  frame: (text: string) => text,
  isLast: (text: string) => text.endsWith(STOP) || text.startsWith(ERROR_START),
  onStop: stopped,
  signs: { opening: '', heartbeat: PING },
})

export interface StreamedMessage extends MessageHead {
  /** The estimate of the request, which clients show until the end. */
  readonly inputTokens: number
  /** Makes an error what the client reads. */
  readonly explain: (error: AppError) => AppError
  readonly requestId: string
}

/** The frames of a streamed message: blocks one after another, numbered without gaps. */
export class MessageFrames {
  #index = 0
  #open: 'text' | 'thinking' | null = null
  #hasText = false
  #stats: TurnStats | null = null

  constructor(private readonly head: StreamedMessage) {}

  opening(): string {
    const usage = { ...usageOf(this.head.inputTokens, 0), output_tokens: 1 }
    return frame('message_start', { message: messageOf(this.head, [], null, usage) }) + PING
  }

  /** The frames of events as they happen; empty where clients see nothing of them. */
  of(events: readonly AgentEvent[]): string {
    let frames = ''
    for (const event of events) frames += this.#frameOf(event)
    return frames
  }

  /** The last frames of a successful turn. */
  ending(answer: ModelAnswer): string {
    const { clientCalls, usage } = answer
    const isEmpty = !this.#hasText && clientCalls.length === 0
    const text = (isEmpty ? this.#opened('text') : '') + this.#closed()
    const calls = clientCalls.map((call) => {
      const delta = { type: 'input_json_delta', partial_json: argumentsOf(call) }
      return this.#start(toolUse(call)) + this.#delta(delta) + this.#stop()
    })
    const end = frame('message_delta', {
      delta: { stop_reason: stopReasonOf(answer), stop_sequence: null },
      usage: { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens },
      moonbase: endOf(answer, this.#stats),
    })
    return text + calls.join('') + end + STOP
  }

  #frameOf(event: AgentEvent): string {
    switch (event.type) {
      case 'llm_delta':
        this.#hasText = true
        return this.#opened('text') + this.#delta({ type: 'text_delta', text: event.text })
      case 'thinking_delta':
        // It stands before the text; a second model call may think anew.
        if (this.#hasText) return ''
        return (
          this.#opened('thinking') + this.#delta({ type: 'thinking_delta', thinking: event.text })
        )
      case 'kb_refs':
        return frame('ping', { moonbase: { kb_refs: event.refs } })
      case 'tool_call':
        return frame('ping', { moonbase: { tool_call: { name: event.name } } })
      case 'provider_fallback':
      case 'tool_result': {
        const { type, ...data } = event
        return frame('ping', { moonbase: { [type]: data } })
      }
      case 'error':
        return errorFrame(this.head.explain(failureOf(event)), this.head.requestId)
      case 'stats':
        this.#stats = event
        return ''
      default:
        return ''
    }
  }

  #opened(kind: 'text' | 'thinking'): string {
    if (this.#open === kind) return ''
    const closed = this.#closed()
    this.#open = kind
    const block =
      kind === 'text' ? { type: kind, text: '' } : { type: kind, thinking: '', signature: '' }
    return closed + this.#start(block)
  }

  #closed(): string {
    if (this.#open === null) return ''
    const isThinking = this.#open === 'thinking'
    this.#open = null
    const signature = { type: 'signature_delta', signature: SIGNATURE }
    return (isThinking ? this.#delta(signature) : '') + this.#stop()
  }

  #start(block: object): string {
    return frame('content_block_start', { index: this.#index, content_block: block })
  }

  #delta(delta: object): string {
    return frame('content_block_delta', { index: this.#index, delta })
  }

  #stop(): string {
    const stop = frame('content_block_stop', { index: this.#index })
    this.#index += 1
    return stop
  }
}
