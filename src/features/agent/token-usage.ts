import type { LlmRequest, LlmUsage, ToolCall } from '../../channels/ports/llm.ts'
import { estimateTokens } from '../../core/text.ts'

/** Tokens of a turn or of one of its model calls. */
export interface TokenUsage extends LlmUsage {
  /** A model call did not say what it used. */
  readonly isEstimated: boolean
}

export const NO_TOKENS: TokenUsage = { inputTokens: 0, outputTokens: 0, isEstimated: false }

export const addTokens = (a: TokenUsage, b: TokenUsage): TokenUsage => ({
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  isEstimated: a.isEstimated || b.isEstimated,
})

export interface Spoken {
  readonly text: string
  readonly toolCalls: readonly ToolCall[]
}

/**
 * The tokens of one model call: what the upstream told, else an estimate from what was sent and
 * received (contract-2, section 6). Images are not estimated: their cost is not in their bytes.
 */
export function tokensOf(
  told: LlmUsage | null,
  { messages, tools }: Pick<LlmRequest, 'messages' | 'tools'>,
  { text, toolCalls }: Spoken,
): TokenUsage {
  if (told) return { ...told, isEstimated: false }
  const sent: string[] = []
  for (const message of messages) {
    sent.push(message.content)
    if (message.role === 'assistant' && message.toolCalls) sent.push(...textsOf(message.toolCalls))
  }
  if (tools.length > 0) sent.push(JSON.stringify(tools))
  return {
    inputTokens: estimateTokens(sent),
    outputTokens: estimateTokens([text, ...textsOf(toolCalls)]),
    isEstimated: true,
  }
}

const textsOf = (calls: readonly ToolCall[]) => calls.flatMap((call) => [call.name, call.arguments])
