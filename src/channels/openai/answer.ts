import { ANSWER_CHARS_MAX } from '../../core/limits.ts'
import { ChannelFailure } from '../failure.ts'
import type { LlmPart, LlmUsage } from '../llm.ts'
import { createTextChunks } from './text-chunk.ts'
import { createThinkFilter } from './think-block.ts'
import { createToolCalls, type ToolFragment } from './tool-calls.ts'

/** A `chat.completion.chunk` as far as it is read. Nothing about it is taken for granted. */
interface Chunk {
  readonly error?: unknown
  readonly object?: unknown
  readonly choices?: readonly (Choice | null)[] | null
  readonly usage?: { readonly prompt_tokens?: unknown; readonly completion_tokens?: unknown } | null
}

interface Choice {
  readonly delta?: {
    readonly content?: unknown
    readonly refusal?: unknown
    readonly tool_calls?: unknown
  } | null
  readonly finish_reason?: unknown
}

type Finish = Extract<LlmPart, { type: 'finish' }>

export type Answer = ReturnType<typeof createAnswer>

/**
 * Reads the chunks of one answer. Reasoning fields are ignored; usage may come with any chunk, and
 * the last one counts. Every fault is a `ChannelFailure` (`provider_error`).
 */
export function createAnswer() {
  const textChunks = createTextChunks()
  const bounded = createBound()
  const think = createThinkFilter()
  // Most answers call no tool.
  let calls: ReturnType<typeof createToolCalls> | null = null
  let finishReason: string | null = null
  let usage: LlmUsage | null = null
  let done = false
  let hasText = false

  function addText(text: string, parts: LlmPart[]): void {
    if (text === '') return
    hasText = true
    parts.push({ type: 'text', text })
  }

  function addChunk(payload: string, parts: LlmPart[]): void {
    const chunk = parse(payload)
    if (chunk.error || chunk.object === 'error') throw fault('error in stream')
    if (chunk.usage) usage = usageOf(chunk.usage) ?? usage
    const choice = chunk.choices?.[0]
    if (typeof choice?.finish_reason === 'string') finishReason = choice.finish_reason
    const delta = choice?.delta
    if (!delta) return
    const text = typeof delta.content === 'string' ? delta.content : textOf(delta)
    if (text !== '') addText(think.push(bounded(text)), parts)
    if (Array.isArray(delta.tool_calls)) {
      calls ??= createToolCalls()
      for (const fragment of delta.tool_calls as readonly ToolFragment[]) calls.add(fragment)
    } else if (text !== '') {
      // Finish and usage of a chunk like this one are the same, and so known already.
      textChunks.learn(payload, text)
    }
  }

  return {
    /** `[DONE]` has come: nothing after it counts. */
    get done(): boolean {
      return done
    },
    /** The model has said why it stopped; only usage and `[DONE]` may follow. */
    get finished(): boolean {
      return done || finishReason !== null
    },

    /** Appends the text of one event. */
    add(payload: string, parts: LlmPart[]): void {
      if (done || payload === '') return
      const plain = textChunks.read(payload)
      if (plain !== null) {
        addText(think.push(bounded(plain)), parts)
      } else if (payload.startsWith('[DONE]')) {
        done = true
      } else {
        addChunk(payload, parts)
      }
    },

    /** Appends the parts that close the answer. */
    end(parts: LlmPart[]): void {
      if (!this.finished) throw fault('stream ended early')
      addText(think.end(), parts)
      const called = calls?.finish() ?? []
      for (const call of called) parts.push({ type: 'tool_call', call })
      if (!hasText && called.length === 0) throw fault('empty answer')
      parts.push({ type: 'finish', reason: reasonOf(finishReason, called.length > 0), usage })
    },
  }
}

/** An endpoint that never stops would fill the memory that all tenants share. */
function createBound() {
  let chars = 0
  return (text: string): string => {
    chars += text.length
    if (chars > ANSWER_CHARS_MAX) throw fault('answer too large')
    return text
  }
}

function parse(payload: string): Chunk {
  let value: unknown
  try {
    value = JSON.parse(payload)
  } catch (cause) {
    // The parser's message quotes the payload, so it is no cause to keep.
    throw fault('malformed stream', cause instanceof SyntaxError ? undefined : cause)
  }
  if (typeof value !== 'object' || value === null) throw fault('malformed stream')
  return value
}

/** Content as a list of typed pieces, and a refusal in place of content. */
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

function usageOf(usage: NonNullable<Chunk['usage']>): LlmUsage | null {
  const { prompt_tokens: input, completion_tokens: output } = usage
  if (!isCount(input) || !isCount(output)) return null
  return { inputTokens: input, outputTokens: output }
}

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0

/** Several servers say `stop` although they call tools. */
function reasonOf(reason: string | null, hasCalls: boolean): Finish['reason'] {
  if (reason === 'length') return 'length'
  if (hasCalls) return 'tool_calls'
  return reason === 'stop' || reason === null ? 'stop' : 'other'
}

const fault = (phrase: string, cause?: unknown) =>
  new ChannelFailure('provider_error', phrase, cause === undefined ? {} : { cause })
