import { SILENT_BYTES_MAX } from '../../core/limits/upstream.ts'
import { EventStream } from '../net/event-stream.ts'
import { UpstreamCall } from '../net/upstream-call.ts'
import { ChannelFailure } from '../ports/failure.ts'
import { HELD_STEP_BYTES, type Llm, type LlmPart } from '../ports/llm.ts'
import { Answer } from './answer.ts'
import { type CompletionsOptions, createCompletions } from './completions.ts'

export interface OpenAiChatOptions extends CompletionsOptions {
  /** Longest wait for the first byte, and longest silence after it. */
  readonly timeoutMs: number
}

/** After the finish reason: how long to wait for usage, `[DONE]` and the end of the body. */
const END_WAIT_MS = 1000

type Reader = ReadableStreamDefaultReader<Uint8Array>
type Read = Awaited<ReturnType<Reader['read']>>

/** A chat model behind any OpenAI-compatible `POST {base}/chat/completions`, streamed. */
export function createOpenAiChat(options: OpenAiChatOptions): Llm {
  const { clock, timeoutMs } = options
  const completions = createCompletions(options)

  return {
    name: 'openai-compatible',
    async open(request, signal) {
      const call = new UpstreamCall(clock, timeoutMs, signal)
      try {
        const response = await completions.open(call, request)
        const reader = (response.body ?? new Blob().stream()).getReader()
        const first = await reader.read()
        if (!first.done) call.gotBytes()
        return partsOf(call, reader, first)
      } catch (error) {
        call.close()
        throw call.explain(error)
      }
    },
  }
}

/** The parts of an answer whose first bytes are `first`; ends the call. */
async function* partsOf(call: UpstreamCall, reader: Reader, first: Read) {
  const stream = new EventStream()
  const answer = new Answer()
  const report = createHeldReport()
  let silentBytes = 0
  let read: Read | null = first
  try {
    while (read?.value) {
      const parts: LlmPart[] = []
      const fault = readParts(read.value, stream, answer, parts)
      silentBytes = parts.length > 0 ? 0 : silentBytes + read.value.length
      report(stream.heldBytes + answer.heldBytes, parts)
      call.gotBytes({ fragment: !stream.ended })
      if (parts.length > 0) yield parts
      if (fault !== null) throw fault
      if (silentBytes > SILENT_BYTES_MAX) throw fail('stream without content')
      const { done } = answer
      read = await readNext(call, reader, answer)
      // The read after `[DONE]` sees the end of the body, so that the connection can be used again.
      if (done) break
    }
    const rest: LlmPart[] = []
    const unclosed = answer.finished ? null : stream.end()
    if (unclosed !== null) answer.add(unclosed, rest)
    answer.end(rest)
    yield rest
  } finally {
    call.close(read?.done ?? false)
  }
}

/** Null when the upstream fails after the finish: the answer is whole all the same. */
async function readNext(call: UpstreamCall, reader: Reader, answer: Answer): Promise<Read | null> {
  if (answer.finished) call.shortenTimeout(END_WAIT_MS)
  call.startWait()
  try {
    return await reader.read()
  } catch (error) {
    const failure = call.explain(error)
    if (answer.finished && failure instanceof ChannelFailure) return null
    throw failure
  }
}

/** Appends the events' parts. Returns the error, if any: what came before it still counts. */
function readParts(
  bytes: Uint8Array,
  stream: EventStream,
  answer: Answer,
  parts: LlmPart[],
): unknown {
  const events: string[] = []
  let fault: unknown = null
  try {
    stream.push(bytes, events)
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

/** Appends a `held` part when the figure has changed enough to tell (ports/llm.ts). */
function createHeldReport() {
  let reported = 0
  return (bytes: number, parts: LlmPart[]): void => {
    if (Math.abs(bytes - reported) < HELD_STEP_BYTES) return
    reported = bytes
    parts.push({ type: 'held', bytes })
  }
}

const fail = (phrase: string) => new ChannelFailure('provider_error', phrase)
