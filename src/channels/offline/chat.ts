import type { Llm, LlmPart, LlmRequest } from '../ports/llm.ts'
import { readQuestion, toolCallsFor, toolOutcomes } from './question.ts'
import { composeReply } from './reply.ts'
import { extractSummary } from './summary.ts'

/**
 * What answers while no language model is connected (contract, Offline default). It quotes the
 * passages it is given, uses the calculator and the clock, says plainly that it is no model and how
 * to connect one. Deterministic; needs no network.
 */
export function createOfflineChat(): Llm {
  return {
    name: 'offline',
    async open(request, signal) {
      signal.throwIfAborted()
      return answer(request, signal)
    },
  }
}

async function* answer(
  request: LlmRequest,
  signal: AbortSignal,
): AsyncGenerator<readonly LlmPart[]> {
  if (request.purpose === 'summary') {
    yield* spoken(extractSummary(request.messages) || '（无）', signal)
    return
  }
  const question = readQuestion(request)
  const outcomes = toolOutcomes(request)
  const calls = outcomes.length === 0 ? toolCallsFor(question, request) : []
  if (calls.length > 0) {
    const parts = calls.map((call): LlmPart => ({ type: 'tool_call', call }))
    yield [...parts, { type: 'finish', reason: 'tool_calls', usage: null }]
    return
  }
  yield* spoken(composeReply(question, request, outcomes), signal)
}

/** Words, or four characters of Chinese, at a time, as a model would bring them. */
const PIECE = /\p{Script=Han}{1,4}[^\p{Script=Han}\s\w]*|\s*[^\s\p{Script=Han}]+\s*|\s+/gu

async function* spoken(text: string, signal: AbortSignal): AsyncGenerator<readonly LlmPart[]> {
  for (const [piece] of text.matchAll(PIECE)) {
    signal.throwIfAborted()
    yield [{ type: 'text', text: piece }]
  }
  yield [{ type: 'finish', reason: 'stop', usage: null }]
}
