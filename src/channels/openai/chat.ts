import { SILENT_BYTES_MAX } from '../../core/limits/upstream.ts'
import { Call } from '../net/deadlines.ts'
import type { ReadResult } from '../net/endpoint.ts'
import { SseDecoder } from '../net/sse-decoder.ts'
import { ChannelFailure } from '../ports/failure.ts'
import type { Llm, LlmPart, LlmRequest } from '../ports/llm.ts'
import { Answer } from './answer.ts'
import { type CompletionsOptions, createCompletions } from './completions.ts'

export interface OpenAiChatOptions extends CompletionsOptions {
  /** Longest wait for the first byte, and longest silence after it. */
  readonly timeoutMs: number
}

/** Comments, say, cost time as long as they come, and a compressed gigabyte of them is small. */
const endless = () => new ChannelFailure('provider_error', 'stream without content')

/** After the finish reason: how long to wait for usage, `[DONE]` and the end of the body. */
const END_WAIT_MS = 1000

/** A chat model behind any OpenAI-compatible `POST {base}/chat/completions`, streamed. */
export function createOpenAiChat(options: OpenAiChatOptions): Llm {
  const { clock, timeoutMs } = options
  const completions = createCompletions(options)

  async function* stream(request: LlmRequest, signal: AbortSignal) {
    const call = new Call(clock, timeoutMs, signal)
    let complete = false
    try {
      const response = await completions.open(call, request)
      const reader = response.body?.getReader()
      const decoder = new SseDecoder()
      const answer = new Answer()
      let silentBytes = 0
      while (reader) {
        call.waiting()
        let read: ReadResult
        try {
          read = await reader.read()
        } catch (error) {
          // Whatever happens after the finish, the answer is whole.
          if (answer.finished && !signal.aborted) break
          throw call.explain(error)
        }
        complete = read.done
        if (read.done) break
        call.arrived()
        // One more read after `[DONE]` sees the end, and lets the connection be used again.
        if (answer.done) break
        const parts: LlmPart[] = []
        const fault = partsOf(read.value, decoder, answer, parts)
        if (answer.finished) call.hurry(END_WAIT_MS)
        if (parts.length > 0) yield parts
        if (fault !== null) throw fault
        silentBytes = parts.length > 0 ? 0 : silentBytes + read.value.length
        if (silentBytes > SILENT_BYTES_MAX) throw endless()
      }
      const rest: LlmPart[] = []
      const unclosed = answer.finished ? null : decoder.end()
      if (unclosed !== null) answer.add(unclosed, rest)
      answer.end(rest)
      yield rest
    } finally {
      call.close(complete)
    }
  }

  return { name: 'openai-compatible', stream }
}

/** Appends what these bytes bring. Gives the error, if any: what came before it still counts. */
function partsOf(
  bytes: Uint8Array,
  decoder: SseDecoder,
  answer: Answer,
  parts: LlmPart[],
): unknown {
  const events: string[] = []
  let fault: unknown = null
  try {
    decoder.push(bytes, events)
  } catch (error) {
    fault = error
  }
  try {
    for (const event of events) answer.add(event, parts)
  } catch (error) {
    fault = error
  }
  return fault
}
