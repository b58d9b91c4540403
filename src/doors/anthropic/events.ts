import type { AppError } from '../../core/errors.ts'
import type { AgentEvent } from '../../features/agent/events.ts'
import type { ModelAnswer } from '../../features/agent/model-loop.ts'
import { anthropicError } from '../../http/error-forms.ts'
import { endOf } from '../shared/extension.ts'
import { TurnFrames } from '../shared/turn-frames.ts'
import {
  argumentsOf,
  type MessageHead,
  messageOf,
  SIGNATURE,
  stopReasonOf,
  toolUse,
  usageOf,
  wholeMessage,
} from './answer.ts'

const frame = (type: string, fields: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`

const DELTA_START = 'event: content_block_delta\ndata: {"type":"content_block_delta","index":'
const PING = frame('ping', {})
const STOP = frame('message_stop', {})

export interface StreamedMessage extends MessageHead {
  /** The estimate of the request, which clients show until the end. */
  readonly inputTokens: number
  /** Makes an error what the client reads. */
  readonly explain: (error: AppError) => AppError
  readonly requestId: string
}

/** The frames of a streamed message: blocks one after another, numbered without gaps. */
export class MessageFrames extends TurnFrames {
  readonly opening: string
  #index = 0
  #open: 'text' | 'thinking' | null = null
  #hasText = false

  constructor(private readonly head: StreamedMessage) {
    super()
    const usage = usageOf(head.inputTokens, 1)
    this.opening = frame('message_start', { message: messageOf(head, [], null, usage) }) + PING
  }

  get format() {
    return this.streamed({ opening: '', heartbeat: PING })
  }

  whole(answer: ModelAnswer, events: readonly AgentEvent[]) {
    return wholeMessage(this.head, answer, events)
  }

  /** Nearly all frames, so the JSON is written without an intermediate object. */
  protected textFrame(text: string): string {
    this.#hasText = true
    const delta = `{"type":"text_delta","text":${JSON.stringify(text)}}`
    return `${this.#opened('text')}${DELTA_START}${this.#index},"delta":${delta}}\n\n`
  }

  /** Thoughts stand before the text; a second model call may think anew. */
  protected thinkingFrame(thinking: string): string {
    if (this.#hasText) return ''
    return this.#opened('thinking') + this.#delta({ type: 'thinking_delta', thinking })
  }

  protected extensionFrame(moonbase: object): string {
    return frame('ping', { moonbase })
  }

  protected errorFrame(error: AppError): string {
    const { explain, requestId } = this.head
    return `event: error\ndata: ${JSON.stringify(anthropicError(explain(error), requestId))}\n\n`
  }

  protected lastFrames(answer: ModelAnswer): string {
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
      moonbase: endOf(answer, this.stats),
    })
    return [text, ...calls, end, STOP].join('')
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
