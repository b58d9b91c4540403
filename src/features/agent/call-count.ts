import { tokensIn } from '../../core/text.ts'
import type { CallMeter, Llm, LlmPart, LlmRequest, LlmUsage } from '../../upstream/ports/llm.ts'

/** Tokens of a turn or of one of its model calls. */
export interface TokenUsage extends LlmUsage {
  /** Whether a model call reported no usage. */
  readonly isEstimated: boolean
}

export const NO_TOKENS: TokenUsage = { inputTokens: 0, outputTokens: 0, isEstimated: false }

export const addTokens = (a: TokenUsage, b: TokenUsage): TokenUsage => ({
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  isEstimated: a.isEstimated || b.isEstimated,
})

type Sent = Pick<LlmRequest, 'messages' | 'tools'>

/**
 * Counts the tokens of one model call, as the upstream reported them, else by an estimate from the
 * text that was sent and received. A call that is cut off counts from when it was sent: the model
 * has read the messages then. Images are not estimated, as their tokens do not follow from their
 * bytes.
 */
export class CallCount implements CallMeter {
  #isMetered = false
  #isOpen = false
  #hasBegun = false
  /** Counted at the end, and only when the upstream has not counted itself. */
  #written = ''
  #usage: LlmUsage | null = null

  sent(): void {
    this.#isMetered = true
    this.#isOpen = true
  }

  refused(): void {
    this.#isOpen = false
  }

  /** Whether anything of an answer has come. */
  get hasBegun(): boolean {
    return this.#hasBegun || this.#written !== ''
  }

  wrote(text: string): void {
    this.#written += text
  }

  /** A part of the answer. An adapter that meters has told of its text before. */
  add(part: LlmPart): void {
    if (part.type === 'held') return
    this.#isOpen = true
    this.#hasBegun = true
    if (part.type === 'finish') this.#usage = part.usage
    else if (part.type === 'tool_call') {
      this.wrote(part.call.name)
      if (!this.#isMetered) this.wrote(part.call.arguments)
    } else if (!this.#isMetered) this.wrote(part.text)
  }

  /** The tokens of the call so far; null while it has cost none. */
  tokens({ messages, tools }: Sent): TokenUsage | null {
    if (!this.#isOpen) return null
    if (this.#usage) return { ...this.#usage, isEstimated: false }
    let read = tools.length > 0 ? tokensIn(JSON.stringify(tools)) : 0
    for (const message of messages) {
      read += tokensIn(message.content)
      if (message.role !== 'assistant') continue
      for (const call of message.toolCalls ?? []) {
        read += tokensIn(call.name) + tokensIn(call.arguments)
      }
    }
    const outputTokens = Math.ceil(tokensIn(this.#written))
    return { inputTokens: Math.ceil(read), outputTokens, isEstimated: true }
  }
}

/** The same model; `count` gets the tokens of each call that has cost some, when it is over. */
export const countedLlm = (llm: Llm, count: (tokens: TokenUsage) => void): Llm => ({
  name: llm.name,
  async open(request, signal) {
    const meter = new CallCount()
    const end = () => {
      const tokens = meter.tokens(request)
      if (tokens) count(tokens)
    }
    try {
      return partsOf(await llm.open({ ...request, meter }, signal), meter, end)
    } catch (error) {
      end()
      throw error
    }
  },
})

async function* partsOf(
  stream: AsyncIterable<readonly LlmPart[]>,
  meter: CallCount,
  end: () => void,
) {
  try {
    for await (const parts of stream) {
      for (const part of parts) meter.add(part)
      yield parts
    }
  } finally {
    end()
  }
}
