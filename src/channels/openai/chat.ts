import { SILENT_BYTES_MAX } from '../../core/limits/upstream.ts'
import { EventStream } from '../../upstream/net/event-stream.ts'
import { UpstreamCall } from '../../upstream/net/upstream-call.ts'
import { ChannelFailure } from '../../upstream/ports/failure.ts'
import { HELD_STEP_BYTES, type Llm, type LlmPart } from '../../upstream/ports/llm.ts'
import { Answer } from './answer.ts'
import { type CompletionsOptions, createCompletions } from './completions.ts'

export interface OpenAiChatOptions extends CompletionsOptions {
  /** Longest wait for the first byte, and longest silence after it. */
  readonly timeoutMs: number
  /** Runs `work` when this endpoint's tenant is next on the event loop (core/time-slice.ts). */
  readonly inTurn: InTurn
}

type InTurn = <Result>(work: () => Promise<Result>) => Promise<Result>

/** After the finish reason: how long to wait for usage, `[DONE]` and the end of the body. */
const END_WAIT_MS = 1000

/**
 * Bytes that are parsed at a time, about a millisecond's work; then the stream waits for its turn.
 * From an endpoint that sends faster than we parse, the runtime reads half a megabyte at once, and
 * the next half is there before other work gets a chance.
 */
const PIECE_BYTES = 16 * 1024

/** A whole answer of usual length comes in one read of at most this size. */
const READ_BYTES_USUAL = 64 * 1024
/**
 * Bytes that the runtime holds for each byte of a longer read, because it reads ahead: 700 streams
 * with reads of 512 KB took 2.9 MB each.
 */
const READ_AHEAD = 6

type Reader = ReadableStreamDefaultReader<Uint8Array>
type Read = Awaited<ReturnType<Reader['read']>>

/** A chat model behind any OpenAI-compatible `POST {base}/chat/completions`, streamed. */
export function createOpenAiChat(options: OpenAiChatOptions): Llm {
  const { clock, timeoutMs, inTurn } = options
  const completions = createCompletions(options)

  return {
    name: 'openai-compatible',
    async open(request, signal) {
      const call = new UpstreamCall(clock, timeoutMs, signal)
      try {
        const { response, model } = await completions.open(call, request)
        const reader = (response.body ?? new Blob().stream()).getReader()
        const first = await reader.read()
        if (!first.done) call.gotBytes()
        const { sampling, showThinking, meter, purpose } = request
        const cut = sampling === undefined ? undefined : 'cut'
        const mayBeEmpty = purpose === 'scan' ? 'always' : cut
        const answer = new Answer({ mayBeEmpty, model, showThinking, meter })
        return partsOf(call, reader, first, answer, inTurn)
      } catch (error) {
        call.close()
        throw call.explain(error)
      }
    },
  }
}

/** The parts of an answer whose first bytes are `first`; ends the call. */
async function* partsOf(
  call: UpstreamCall,
  reader: Reader,
  first: Read,
  answer: Answer,
  inTurn: InTurn,
) {
  const stream = new EventStream()
  let silentBytes = 0
  let reportedBytes = 0
  let bytesSinceWait = 0
  let read: Read | null = first
  try {
    while (read?.value) {
      const inHand = READ_AHEAD * Math.max(0, read.value.length - READ_BYTES_USUAL)
      // Counted before the stream waits for its turn.
      if (inHand > reportedBytes) {
        reportedBytes = inHand
        yield [{ type: 'held', bytes: inHand } satisfies LlmPart]
      }
      for (const bytes of piecesOf(read.value)) {
        bytesSinceWait += bytes.length
        const isOver = bytesSinceWait > PIECE_BYTES
        if (isOver) bytesSinceWait = 0
        const { parts, fault } = isOver
          ? await readInTurn(bytes, stream, answer, inTurn)
          : readParts(bytes, stream, answer)
        silentBytes = parts.length > 0 ? 0 : silentBytes + bytes.length
        const heldBytes = inHand + stream.heldBytes + answer.heldBytes
        if (Math.abs(heldBytes - reportedBytes) >= HELD_STEP_BYTES) {
          parts.push({ type: 'held', bytes: heldBytes })
          reportedBytes = heldBytes
        }
        if (stream.ended) call.gotBytes()
        else call.gotFragment()
        if (parts.length > 0) yield parts
        if (fault !== null) throw fault
        if (silentBytes > SILENT_BYTES_MAX) throw endless()
        if (answer.done) break
      }
      // The read after `[DONE]` sees the end of the body, so that the connection can be used again.
      const { done } = answer
      if (answer.finished) call.shortenTimeout(END_WAIT_MS)
      call.startWait()
      try {
        read = await reader.read()
      } catch (error) {
        read = null
        rethrowUnlessFinished(call.explain(error), answer)
      }
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

function piecesOf(bytes: Uint8Array): Uint8Array[] {
  // Usually one token; another view of the bytes would cost as much as decoding them.
  if (bytes.length <= PIECE_BYTES) return [bytes]
  const pieces: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    pieces.push(bytes.subarray(at, at + PIECE_BYTES))
  }
  return pieces
}

/** Ignores a failure after the finish, because the answer is complete then. */
function rethrowUnlessFinished(error: unknown, answer: Answer): void {
  if (!answer.finished || !(error instanceof ChannelFailure)) throw error
}

const readInTurn = (bytes: Uint8Array, stream: EventStream, answer: Answer, inTurn: InTurn) =>
  inTurn(async () => readParts(bytes, stream, answer))

/** The parts of the events, and the error, if there was one: the parts before it still count. */
function readParts(bytes: Uint8Array, stream: EventStream, answer: Answer) {
  const parts: LlmPart[] = []
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
  return { parts, fault }
}

const endless = () => new ChannelFailure('provider_error', 'stream without content')
