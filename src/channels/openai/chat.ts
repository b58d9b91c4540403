import { SILENT_BYTES_MAX } from '../../core/limits/upstream.ts'
import { Call } from '../net/deadlines.ts'
import type { ReadResult } from '../net/endpoint.ts'
import { SseDecoder } from '../net/sse-decoder.ts'
import { ChannelFailure } from '../ports/failure.ts'
import { HELD_STEP_BYTES, type Llm, type LlmPart } from '../ports/llm.ts'
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

  return {
    name: 'openai-compatible',
    async open(request, signal) {
      const call = new Call(clock, timeoutMs, signal)
      try {
        const response = await completions.open(call, request)
        const reader = response.body?.getReader() ?? NO_BODY
        const first = await reader.read()
        if (!first.done) call.arrived()
        return partsOf(call, reader, first)
      } catch (error) {
        call.close()
        throw call.explain(error)
      }
    },
  }
}

type BodyReader = { read(): Promise<ReadResult> }

const NO_BODY: BodyReader = { read: async () => ({ done: true }) }

/** The parts of an answer whose first bytes are `first`; ends the call. */
async function* partsOf(call: Call, reader: BodyReader, first: ReadResult) {
  const decoder = new SseDecoder()
  const answer = new Answer()
  let silentBytes = 0
  let told = 0
  let read: ReadResult | null = first
  try {
    while (read && !read.done) {
      const parts: LlmPart[] = []
      const fault = readParts(read.value, decoder, answer, parts)
      silentBytes = parts.length > 0 ? 0 : silentBytes + read.value.length
      const held = decoder.heldBytes + answer.heldBytes
      if (Math.abs(held - told) >= HELD_STEP_BYTES) {
        parts.push({ type: 'held', bytes: held })
        told = held
      }
      if (parts.length > 0) yield parts
      if (fault !== null) throw fault
      if (silentBytes > SILENT_BYTES_MAX) throw endless()
      const isDone = answer.done
      read = await nextRead(call, reader, answer)
      // The read after `[DONE]` sees the end, and lets the connection be used again.
      if (isDone) break
    }
    const rest: LlmPart[] = []
    const unclosed = answer.finished ? null : decoder.end()
    if (unclosed !== null) answer.add(unclosed, rest)
    answer.end(rest)
    yield rest
  } finally {
    call.close(read?.done ?? false)
  }
}

/** Null when the upstream fails after the finish: the answer is whole all the same. */
async function nextRead(
  call: Call,
  reader: BodyReader,
  answer: Answer,
): Promise<ReadResult | null> {
  if (answer.finished) call.hurry(END_WAIT_MS)
  call.waiting()
  try {
    const read = await reader.read()
    if (!read.done) call.arrived()
    return read
  } catch (error) {
    const failure = call.explain(error)
    if (answer.finished && failure instanceof ChannelFailure) return null
    throw failure
  }
}

/** Appends what these bytes bring. Gives the error, if any: what came before it still counts. */
function readParts(
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
