import { TOKENS_TOLD_MAX } from '../../core/limits/upstream.ts'
import type { ContextSize, FailureDetails } from '../ports/failure.ts'

/** As llama.cpp, OpenAI, vLLM and LM Studio say it. */
const CONTEXT_WORDS = /exceed_context_size|context_length_exceeded|context (length|size|window)/i

/** How many tokens fit: of OpenAI and vLLM; of llama.cpp. */
const MAX = [/maximum context length is (\d+)/i, /"n_ctx":\s*(\d+)/]
const INPUT = [
  /(\d+) in the messages/i,
  /(\d+) input tokens/i,
  /"n_prompt_tokens":\s*(\d+)/,
  /resulted in (\d+) tokens/i,
  /requested (\d+) tokens/i,
]
const OUTPUT = [/(\d+) in the completion/i, /is too large: (\d+)/i, /(\d+) output tokens/i]

/** What an upstream's words say of messages that are longer than its model can read. */
export function contextRefusal(
  text: string,
): Required<Pick<FailureDetails, 'contextExceeded' | 'contextSize'>> {
  const contextExceeded = CONTEXT_WORDS.test(text)
  return { contextExceeded, contextSize: contextExceeded ? sizeIn(text) : undefined }
}

function sizeIn(text: string): ContextSize | undefined {
  const [input, max] = [figure(text, INPUT), figure(text, MAX)]
  return input === null || max === null ? undefined : { input, output: figure(text, OUTPUT), max }
}

function figure(text: string, patterns: readonly RegExp[]): number | null {
  for (const pattern of patterns) {
    const value = Number(pattern.exec(text)?.[1] ?? Number.NaN)
    if (value <= TOKENS_TOLD_MAX) return value
  }
  return null
}
