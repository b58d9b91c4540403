import { AppError } from '../../core/errors.ts'
import type { AgentEvent, TurnStats } from '../../features/agent/events.ts'
import type { ModelAnswer } from '../../features/agent/model-loop.ts'
import { ollamaError } from '../../http/error-forms.ts'
import { inputOf } from '../shared/calls.ts'
import { endOf, extensionOf } from '../shared/extension.ts'
import { failureOf } from '../shared/failure.ts'

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
const errorLine = (error: AppError): string => line(ollamaError(error))
const ERROR_START = '{"error":'

const nanoseconds = (ms: number): number => Math.max(0, Math.round(ms * 1e6))

/** The lines of one answer, or the answer as a whole. */
export class AnswerLines {
  readonly #startedAt: number
  #firstAt: number | null = null
  #stats: TurnStats | null = null

  constructor(private readonly head: AnswerHead) {
    this.#startedAt = head.steady()
  }

  /** How the lines, which are text already, are streamed (http/sse.ts). */
  get format() {
    const empty = this.#part('')
    return {
      frame: (text: string) => text,
      isLast: (text: string) => text.startsWith(ERROR_START) || text.includes('"done":true'),
      onStop: () => errorLine(new AppError('server_stopping', {})),
      signs: { opening: empty, heartbeat: empty },
      contentType: 'application/x-ndjson',
    }
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

  /** The lines of events as they happen; empty where clients see nothing of them. */
  of(events: readonly AgentEvent[]): string {
    this.note(events)
    return events.map((event) => this.#lineOf(event)).join('')
  }

  /** The last lines of a successful turn. */
  ending(answer: ModelAnswer): string {
    const calls = callsOf(answer)
    const called = calls.length > 0 ? this.#part('', { tool_calls: calls }) : ''
    const end = { ...this.#end(answer, ''), moonbase: endOf(answer, this.#stats) }
    return called + line(end)
  }

  whole(answer: ModelAnswer, events: readonly AgentEvent[]) {
    const since = events.findLastIndex(({ type }) => type === 'provider_fallback') + 1
    const thinking = events
      .slice(since)
      .flatMap((event) => (event.type === 'thinking_delta' ? [event.text] : []))
      .join('')
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

  #lineOf(event: AgentEvent): string {
    switch (event.type) {
      case 'llm_delta':
        return this.#part(event.text)
      case 'thinking_delta':
        return this.#part('', { thinking: event.text })
      case 'kb_refs':
        return this.#part('', {}, { kb_refs: event.refs })
      case 'tool_call':
        return this.#part('', {}, { tool_call: { name: event.name } })
      case 'provider_fallback':
      case 'tool_result': {
        const { type, ...data } = event
        return this.#part('', {}, { [type]: data })
      }
      case 'error':
        return errorLine(failureOf(event))
      case 'stats':
        this.#stats = event
        return ''
      default:
        return ''
    }
  }
}

const content = (isChat: boolean, text: string, more: Said = {}): object =>
  isChat ? { message: { role: 'assistant', content: text, ...more } } : { response: text, ...more }

const callsOf = ({ clientCalls }: ModelAnswer) =>
  clientCalls.map((call, index) => ({
    id: call.id,
    function: { index, name: call.name, arguments: inputOf(call) },
  }))
