import { parseUntrustedJson } from '../../core/json.ts'
import { MODEL_CHARS_MAX } from '../../core/limits/contract.ts'
import {
  ANSWER_CHARS_MAX,
  THINKING_CHARS_MAX,
  TOKENS_TOLD_MAX,
  UPSTREAM_ERROR_BYTES_MAX,
} from '../../core/limits/upstream.ts'
import { TextInPieces } from '../../core/text.ts'
import { contextRefusal } from '../../upstream/net/context-refusal.ts'
import { saidIn } from '../../upstream/net/said.ts'
import { ChannelFailure } from '../../upstream/ports/failure.ts'
import type { CallMeter, LlmPart, LlmUsage } from '../../upstream/ports/llm.ts'
import { createToolCalls, type ToolFragment } from './tool-calls.ts'

/** The parts of a `chat.completion.chunk` that are read. Any of them may be missing or wrong. */
interface Chunk {
  readonly error?: unknown
  readonly object?: unknown
  readonly model?: unknown
  readonly choices?: readonly (Choice | null)[] | null
  readonly usage?: { readonly prompt_tokens?: unknown; readonly completion_tokens?: unknown } | null
}

interface Choice {
  readonly delta?: {
    readonly content?: unknown
    readonly refusal?: unknown
    /** The model's reasoning; vendors use one of two names. */
    readonly reasoning_content?: unknown
    readonly reasoning?: unknown
    readonly tool_calls?: unknown
  } | null
  readonly finish_reason?: unknown
}

interface AnswerOptions {
  /** An empty answer is no fault: one that was `cut`, because the caller learns why, or each. */
  readonly mayBeEmpty?: 'cut' | 'always' | undefined
  /** The model that was asked for; null when the upstream says which one it used. */
  readonly model?: string | null
  readonly showThinking?: boolean | undefined
  readonly meter?: CallMeter | undefined
}

type FinishPart = Extract<LlmPart, { type: 'finish' }>

/**
 * Reads the chunks of one answer. Reasoning is left out unless it is asked for; usage may come
 * with any chunk, and the last one counts. Every fault is a `ChannelFailure` (`provider_error`).
 */
export class Answer {
  readonly #think = new ThinkFilter()
  // Created with the first call of a tool, because most answers have none.
  #calls: ReturnType<typeof createToolCalls> | null = null
  #finishReason: string | null = null
  #usage: LlmUsage | null = null
  #done = false
  #hasText = false
  #chars = 0
  #model: string | undefined
  readonly #mayBeEmpty: AnswerOptions['mayBeEmpty']
  readonly #meter: CallMeter | undefined
  /** Characters of reasoning that may still be shown. */
  #thinkingLeft: number

  constructor({ mayBeEmpty, model = null, showThinking = false, meter }: AnswerOptions = {}) {
    this.#mayBeEmpty = mayBeEmpty
    this.#meter = meter
    this.#thinkingLeft = showThinking ? THINKING_CHARS_MAX : 0
    this.#model = model ?? undefined
  }

  /** `[DONE]` has come: nothing after it counts. */
  get done(): boolean {
    return this.#done
  }

  /** The model has said why it stopped; only usage and `[DONE]` may follow. */
  get finished(): boolean {
    return this.#done || this.#finishReason !== null
  }

  /** Memory of the arguments of tool calls and of a block of reasoning. */
  get heldBytes(): number {
    return 2 * (this.#think.heldChars + (this.#calls?.heldChars ?? 0))
  }

  /** Appends the text of one event. */
  add(payload: string, parts: LlmPart[]): void {
    if (this.#done || payload === '') return
    if (payload.startsWith('[DONE]')) this.#done = true
    else this.#addChunk(payload, parts)
  }

  /** Appends the parts that close the answer. */
  end(parts: LlmPart[]): void {
    if (!this.finished) throw fault('stream ended early')
    this.#addText(this.#think.end(), parts)
    const called = this.#calls?.finish() ?? []
    for (const call of called) parts.push({ type: 'tool_call', call })
    const reason = reasonOf(this.#finishReason, called.length > 0)
    const isCut = reason === 'length' || reason === 'content_filter'
    const mayEnd = this.#mayBeEmpty === 'always' || (isCut && this.#mayBeEmpty === 'cut')
    if (!this.#hasText && called.length === 0 && !mayEnd) {
      throw fault('empty answer')
    }
    parts.push({ type: 'finish', reason, usage: this.#usage, model: this.#model })
  }

  #addChunk(payload: string, parts: LlmPart[]): void {
    const chunk = parse(payload)
    if (chunk.error || chunk.object === 'error') throw this.#refusal(payload)
    if (chunk.usage) this.#usage = usageOf(chunk.usage) ?? this.#usage
    if (this.#model === undefined && typeof chunk.model === 'string' && chunk.model !== '') {
      this.#model = chunk.model.slice(0, MODEL_CHARS_MAX)
    }
    const choice = chunk.choices?.[0]
    if (typeof choice?.finish_reason === 'string') this.#finishReason = choice.finish_reason
    const delta = choice?.delta
    if (!delta) return
    const text = typeof delta.content === 'string' ? delta.content : textOf(delta)
    const thought = thinkingOf(delta)
    this.#meter?.wrote(text)
    this.#meter?.wrote(thought)
    if (text !== '') this.#addContent(text, parts)
    else if (this.#thinkingLeft > 0) this.#addThinking(thought, parts)
    if (!Array.isArray(delta.tool_calls)) return
    this.#calls ??= createToolCalls(this.#meter)
    for (const fragment of delta.tool_calls as readonly ToolFragment[]) this.#calls.add(fragment)
  }

  /** An error in place of the answer; before any text it may be that the messages are too long. */
  #refusal(payload: string): ChannelFailure {
    const start = payload.slice(0, UPSTREAM_ERROR_BYTES_MAX)
    const [refusal, said] = [contextRefusal(start), saidIn(start)]
    if (this.#hasText || !refusal.contextExceeded) {
      return new ChannelFailure('provider_error', 'error in stream', { said })
    }
    const phrase = 'error in stream, the prompt is longer than the context'
    return new ChannelFailure('upstream_4xx', phrase, { ...refusal, said })
  }

  /** Limits the length: an endpoint that never stops would fill the memory of all tenants. */
  #addContent(text: string, parts: LlmPart[]): void {
    this.#chars += text.length
    if (this.#chars > ANSWER_CHARS_MAX) throw fault('answer too large')
    const said = this.#think.push(text)
    if (this.#thinkingLeft > 0) this.#addThinking(this.#think.takeThought(), parts)
    this.#addText(said, parts)
  }

  #addThinking(text: string, parts: LlmPart[]): void {
    if (text === '') return
    parts.push({ type: 'thinking', text: text.slice(0, this.#thinkingLeft) })
    this.#thinkingLeft -= Math.min(text.length, this.#thinkingLeft)
  }

  #addText(text: string, parts: LlmPart[]): void {
    if (text === '') return
    this.#hasText = true
    parts.push({ type: 'text', text })
  }
}

function parse(payload: string): Chunk {
  let value: unknown
  try {
    value = parseUntrustedJson(payload)
  } catch (cause) {
    // The parser's message quotes the payload, so it is no cause to keep.
    throw fault('malformed stream', cause instanceof SyntaxError ? undefined : cause)
  }
  if (typeof value !== 'object' || value === null) throw fault('malformed stream')
  return value
}

/** The text of a delta. Content may be a list of typed pieces, or replaced by a refusal. */
function textOf({ content, refusal }: NonNullable<Choice['delta']>): string {
  if (Array.isArray(content)) {
    return content
      .map((piece: { type?: unknown; text?: unknown } | null) =>
        piece?.type === 'text' && typeof piece.text === 'string' ? piece.text : '',
      )
      .join('')
  }
  return typeof refusal === 'string' ? refusal : ''
}

/** The reasoning of a delta; some servers send both fields with the same text. */
function thinkingOf({
  reasoning_content: content,
  reasoning,
}: NonNullable<Choice['delta']>): string {
  if (typeof content === 'string') return content
  return typeof reasoning === 'string' ? reasoning : ''
}

function usageOf(usage: NonNullable<Chunk['usage']>): LlmUsage | null {
  const { prompt_tokens: input, completion_tokens: output } = usage
  if (!isCount(input) || !isCount(output)) return null
  return { inputTokens: input, outputTokens: output }
}

const isCount = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= TOKENS_TOLD_MAX

/** The finish reason; several servers say `stop` although they call tools. */
function reasonOf(reason: string | null, hasCalls: boolean): FinishPart['reason'] {
  if (reason === 'length' || reason === 'content_filter') return reason
  if (hasCalls) return 'tool_calls'
  return reason === 'stop' || reason === null ? 'stop' : 'other'
}

const fault = (phrase: string, cause?: unknown) =>
  new ChannelFailure('provider_error', phrase, cause === undefined ? {} : { cause })

const OPEN = '<think>'
const CLOSE = '</think>'

/**
 * Takes out the `<think>` block that some servers leave at the start of the content. A block that
 * never closes is given back at the end, and one that starts later is content.
 */
export class ThinkFilter {
  #state: 'start' | 'inside' | 'gap' | 'pass' = 'start'
  #held = new TextInPieces()
  /** At the start: the trimmed text that is held back. Inside the block: its last characters. */
  #seen = ''
  #thought = ''

  /** The content that can be shown now. */
  push(text: string): string {
    switch (this.#state) {
      case 'pass':
        return text
      case 'start':
        this.#held.add(text)
        return this.#start(text)
      case 'inside':
        this.#held.add(text)
        return this.#inside(text)
      case 'gap':
        return this.#gap(text)
    }
  }

  get heldChars(): number {
    return this.#held.length
  }

  /** The text of a block that has just closed; empty at the next call. */
  takeThought(): string {
    const thought = this.#thought
    this.#thought = ''
    return thought
  }

  /** What is still held back when the content ends. */
  end(): string {
    return this.#held.toString()
  }

  #start(text: string): string {
    const lead = (this.#seen + text).trimStart()
    if (lead.startsWith(OPEN)) {
      this.#state = 'inside'
      this.#seen = ''
      return this.#inside(lead.slice(OPEN.length))
    }
    this.#seen = lead
    if (OPEN.startsWith(lead)) return ''
    const answer = this.#held.toString()
    this.#leave('pass')
    return answer
  }

  #inside(text: string): string {
    const seen = this.#seen + text
    const at = seen.indexOf(CLOSE)
    if (at < 0) {
      this.#seen = seen.slice(-(CLOSE.length - 1))
      return ''
    }
    const block = this.#held.toString()
    this.#thought = block.slice(block.indexOf(OPEN) + OPEN.length, block.lastIndexOf(CLOSE)).trim()
    this.#leave('gap')
    return this.#gap(seen.slice(at + CLOSE.length))
  }

  #gap(text: string): string {
    const answer = text.trimStart()
    if (answer !== '') this.#state = 'pass'
    return answer
  }

  #leave(state: 'gap' | 'pass'): void {
    this.#state = state
    this.#held = new TextInPieces()
    this.#seen = ''
  }
}
