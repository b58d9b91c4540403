import { untilAborted } from '../core/abort.ts'
import type { Clock } from '../core/clock.ts'
import { JsonItems } from '../core/json.ts'
import { ANSWER_STALL_MS_MAX } from '../core/limits/machine.ts'
import type { MemoryBudget, MemoryShare } from '../core/memory-budget.ts'
import type { Principal } from '../core/principal.ts'
import { createLoopTurns } from '../core/time-slice.ts'
import { type ResponseHeaders, takeHeaders } from './entry.ts'
import { type Connections, memoryFull } from './request-limits.ts'
import { clientOf, type DirectController, type StreamClient } from './sse.ts'

/** A JSON object. The items of a field that is an async iterable are read as they are sent. */
export type JsonAnswer = Readonly<Record<string, unknown>>

/** The part of a route's context that an answer needs. */
export interface AnswerContext {
  readonly principal: Principal
  readonly request: Request
  readonly server: Connections | null
  readonly set: ResponseHeaders
}

/** A text whose parts are read as they are sent. */
export interface TextAnswer {
  readonly parts: AsyncIterable<string>
  readonly headers: Readonly<Record<string, string>>
}

interface PiecedAnswer {
  readonly pieces: AsyncGenerator<string, string>
  /** What is held in memory until it is sent. */
  readonly bytes: number
  readonly headers: Readonly<Record<string, string>>
}

const JSON_TYPE = { 'content-type': 'application/json' }
const PIECE_CHARS = 64 * 1024
/** Memory of an item or piece on its way to the client; a persona takes 24 KB. */
const PIECE_BYTES = 4 * PIECE_CHARS
/** Memory of each value of an array that is in memory as a whole, besides its text. */
const VALUE_BYTES = 100

export interface JsonAnswersOptions {
  readonly clock: Clock
  readonly budget: MemoryBudget
  /** Called when an answer cannot be completed; its connection is closed. */
  readonly onError: (error: unknown) => void
}

/**
 * Answers that grow with what a tenant has stored. They are written in pieces: a client that reads
 * slowly holds one piece and not the whole, a client that reads nothing is disconnected, and no
 * answer holds the event loop. Tenants take turns at the pieces, so many lists of one tenant delay
 * a list of another by one piece.
 */
export function createJsonAnswers({ clock, budget, onError }: JsonAnswersOptions) {
  const inTurn = createLoopTurns(clock.steady)

  /** Waits for a slow client and disconnects one that has stopped reading. */
  async function drained(written: Promise<unknown>, client: StreamClient, signal: AbortSignal) {
    const cancel = clock.after(ANSWER_STALL_MS_MAX, client.disconnect)
    await untilAborted(written, signal)
    cancel()
  }

  /** The rest of an answer after its first piece. */
  function streamed(
    client: StreamClient,
    first: IteratorResult<string, string>,
    pieces: AsyncGenerator<string, string>,
    share: MemoryShare,
  ): ReadableStream {
    const abort = new AbortController()
    const { signal } = abort
    // A client may disconnect before the first piece is read, and may have done so already.
    const onLeave = () => {
      abort.abort()
      share.close()
    }
    client.request.signal.addEventListener('abort', onLeave, { once: true })
    if (client.request.signal.aborted) onLeave()
    async function pull(controller: DirectController): Promise<void> {
      try {
        for (let piece = first; !signal.aborted; ) {
          const written = controller.write(piece.value)
          if (written instanceof Promise) await drained(written, client, signal)
          if (piece.done) break
          piece = await inTurn(client.owner, () => pieces.next())
        }
        if (!signal.aborted) controller.end()
      } catch (error) {
        onError(error)
        client.disconnect()
      } finally {
        share.close()
        await pieces.return('')
      }
    }
    const source = { type: 'direct' as const, pull, cancel: () => abort.abort() }
    return new ReadableStream(source as unknown as UnderlyingDefaultSource)
  }

  /**
   * Answers with the pieces, which are begun before the head is sent. Throws `memory_full` when the
   * budget has no room for the `bytes` that they hold.
   */
  async function respondWith(context: AnswerContext, load: () => Promise<PiecedAnswer>) {
    const { principal, request, server, set } = context
    const client = clientOf(principal, request, server)
    const share = budget.open(client.owner)
    try {
      const { pieces, bytes, headers } = await inTurn(client.owner, load)
      share.add(bytes)
      const first = await inTurn(client.owner, () => pieces.next())
      if (!first.done) share.add(PIECE_BYTES)
      else share.close()
      const body = first.done ? first.value : streamed(client, first, pieces, share)
      return new Response(body, { headers: { ...takeHeaders(set), ...headers } })
    } catch (error) {
      share.close()
      throw memoryFull(error)
    }
  }

  return {
    /**
     * Answers with what `load` finds. Throws `memory_full` when the budget has no room for it and
     * for the `bytes` that its async iterables hold.
     */
    respond: (
      context: AnswerContext,
      load: () => Promise<JsonAnswer>,
      bytes = 0,
    ): Promise<Response> =>
      respondWith(context, async () => {
        const answer = await load()
        return { pieces: piecesOf(answer), bytes: heldBytes(answer) + bytes, headers: JSON_TYPE }
      }),

    /** Answers with parts of a text as they are read, such as a file that is made of rows. */
    respondText: (context: AnswerContext, load: () => Promise<TextAnswer>): Promise<Response> =>
      respondWith(context, async () => {
        const { parts, headers } = await load()
        return { pieces: joinedPieces(parts), bytes: 0, headers }
      }),
  }
}

export type JsonAnswers = ReturnType<typeof createJsonAnswers>

const isAsync = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value

/** The bytes that an answer holds until it is sent. */
function heldBytes(answer: JsonAnswer): number {
  let bytes = 0
  for (const value of Object.values(answer)) {
    if (!Array.isArray(value)) continue
    for (const item of value) bytes += bytesOfParts(item)
  }
  return bytes
}

/** The bytes of the members of an object, with those of the lists of objects among them. */
function bytesOfParts(item: unknown): number {
  let bytes = 0
  for (const part of Object.values(item ?? {})) {
    bytes += VALUE_BYTES + (typeof part === 'string' ? 2 * part.length : 0)
    const isOfObjects = Array.isArray(part) && typeof part[0] === 'object'
    if (isOfObjects) for (const one of part) bytes += bytesOfParts(one)
  }
  return bytes
}

/** The text of an answer in pieces of at least `PIECE_CHARS`; the last one is returned. */
async function* piecesOf(answer: JsonAnswer): AsyncGenerator<string, string> {
  let text = ''
  let before = '{'
  for (const [name, value] of Object.entries(answer)) {
    text += `${before}${JSON.stringify(name)}:`
    before = ','
    if (!Array.isArray(value) && !isAsync(value)) {
      text += JSON.stringify(value)
      continue
    }
    let separator = '['
    for await (const item of value) {
      text += separator + (item instanceof JsonItems ? item.text : JSON.stringify(item))
      separator = ','
      if (text.length < PIECE_CHARS) continue
      yield text
      text = ''
    }
    text += separator === '[' ? '[]' : ']'
  }
  return `${text}}`
}

/** The parts in pieces of at least `PIECE_CHARS`; the last one is returned. */
async function* joinedPieces(parts: AsyncIterable<string>): AsyncGenerator<string, string> {
  let text = ''
  for await (const part of parts) {
    text += part
    if (text.length < PIECE_CHARS) continue
    yield text
    text = ''
  }
  return text
}
