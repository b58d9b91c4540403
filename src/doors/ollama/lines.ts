import type { AppError } from '../../core/errors.ts'
import type { AgentEvent } from '../../features/agent/events.ts'
import type { ModelAnswer } from '../../features/agent/model-loop.ts'
import { ollamaError } from '../../http/error-forms.ts'
import { inputOf } from '../shared/calls.ts'
import { endOf, extensionOf, reasoningOf } from '../shared/extension.ts'
import { TurnFrames } from '../shared/turn-frames.ts'

export interface AnswerHead {
  readonly model: string
  /** Chat answers with messages, generate with texts. */
  readonly isChat: boolean
  /** The wall clock, and a steady one that measures. */
  readonly iso: () => string
  readonly steady: () => number
}

interface Said {
  readonly thinking?: string
  readonly tool_calls?: readonly object[]
}

const line = (value: object): string => `${JSON.stringify(value)}\n`

const nanoseconds = (ms: number): number => Math.max(0, Math.round(ms * 1e6))

/** The lines of one answer, or the answer as a whole. */
export class AnswerLines extends TurnFrames {
  readonly opening = ''
  readonly #startedAt: number
  readonly #model: string
  #firstAt: number | null = null
  /** The time of the newest line of text, and all before its text. */
  #at = ''
  #start = ''

  constructor(private readonly head: AnswerHead) {
    super()
    this.#startedAt = head.steady()
    this.#model = JSON.stringify(head.model)
  }

  get format() {
    const empty = this.#part('')
    const contentType = 'application/x-ndjson'
    return { ...this.streamed({ opening: empty, heartbeat: empty }), contentType }
  }

  /** An answer to a request that says nothing. */
  static loaded({ isChat, model, iso }: AnswerHead, isUnload: boolean) {
    const head = { model, created_at: iso() }
    const reason = isUnload ? 'unload' : 'load'
    return { ...head, ...content(isChat, ''), done: true, done_reason: reason }
  }

  /** Notes when the first sign of an answer came. */
  note(events: readonly AgentEvent[]): void {
    for (const { type } of events) {
      if (type === 'llm_delta' || type === 'thinking_delta') this.#firstAt ??= this.head.steady()
    }
  }

  /** Nearly all lines, so the JSON is written without an intermediate object. */
  protected textFrame(text: string): string {
    this.#firstAt ??= this.head.steady()
    const { isChat, iso } = this.head
    const at = iso()
    if (at !== this.#at) {
      this.#at = at
      const content = isChat ? '"message":{"role":"assistant","content":' : '"response":'
      this.#start = `{"model":${this.#model},"created_at":"${at}",${content}`
    }
    return `${this.#start}${JSON.stringify(text)}${isChat ? '}' : ''},"done":false}\n`
  }

  protected thinkingFrame(thinking: string): string {
    this.#firstAt ??= this.head.steady()
    return this.#part('', { thinking })
  }

  protected extensionFrame(moonbase: object): string {
    return this.#part('', {}, moonbase)
  }

  protected errorFrame(error: AppError): string {
    return line(ollamaError(error))
  }

  protected lastFrames(answer: ModelAnswer): string {
    const calls = callsOf(answer)
    const called = calls.length > 0 ? this.#part('', { tool_calls: calls }) : ''
    return called + line({ ...this.#end(answer, ''), moonbase: endOf(answer, this.stats) })
  }

  whole(answer: ModelAnswer, events: readonly AgentEvent[]) {
    const thinking = reasoningOf(events)
    const calls = callsOf(answer)
    const more = {
      ...(thinking === '' ? {} : { thinking }),
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    }
    return { ...this.#end(answer, answer.text, more), moonbase: extensionOf(answer, events) }
  }

  #end(answer: ModelAnswer, text: string, more: Said = {}) {
    const now = this.head.steady()
    const total = Math.max(1, nanoseconds(now - this.#startedAt))
    const prompt = Math.min(total, nanoseconds((this.#firstAt ?? now) - this.#startedAt))
    return {
      model: this.head.model,
      created_at: this.head.iso(),
      ...content(this.head.isChat, text, more),
      done: true,
      done_reason: answer.finish === 'length' ? 'length' : 'stop',
      total_duration: total,
      load_duration: 0,
      prompt_eval_count: answer.usage.inputTokens,
      prompt_eval_duration: prompt,
      eval_count: answer.usage.outputTokens,
      eval_duration: total - prompt,
    }
  }

  #part(text: string, more: Said = {}, moonbase?: object): string {
    const { model, iso, isChat } = this.head
    const said = { model, created_at: iso(), ...content(isChat, text, more), done: false }
    return line(moonbase ? { ...said, moonbase } : said)
  }
}

const content = (isChat: boolean, text: string, more: Said = {}): object =>
  isChat ? { message: { role: 'assistant', content: text, ...more } } : { response: text, ...more }

const callsOf = ({ clientCalls }: ModelAnswer) =>
  clientCalls.map((call, index) => ({
    id: call.id,
    function: { index, name: call.name, arguments: inputOf(call) },
  }))
