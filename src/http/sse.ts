import { untilAborted } from '../core/abort.ts'
import type { Clock } from '../core/clock.ts'
import { appError } from '../core/errors.ts'
import { STREAM_STALL_MS_MAX } from '../core/limits/machine.ts'
import type { Principal } from '../core/principal.ts'
import { together } from '../core/together.ts'
import type { BodyRoom } from './body-room.ts'
import type { Connections } from './body-timeout.ts'
import { type ResponseHeaders, takeHeaders } from './response-headers.ts'
import { createStreamSlots } from './stream-slots.ts'

/** Under the 10 s after which common proxies and servers give up on a silent stream. */
const HEARTBEAT_MS = 8_000
const HEARTBEAT = ': ping\n\n'
/**
 * Headers leave with the first byte. Blank lines mean nothing in an event stream, and a client that
 * splits the body into frames without knowing comments gets an empty one, as it does at the end.
 */
const OPENING = '\n\n'
/** Headers leave with the first event; when none has come by then, with blank lines. */
const OPENING_WAIT_MS = 20

/** Events after which a stream ends: they leave in one packet with the end of the body. */
const LAST = new Set(['llm_end', 'error'])

const stopping = appError('server_stopping')
const STOPPING = { type: 'error', message: stopping.message, code: stopping.code }

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
} as const

/** One Server-Sent Event; `type` is also the `event:` line (specification, Events). */
export interface StreamEvent {
  readonly type: string
}

function frame(event: StreamEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}

/** Bun's direct stream: writes go to the socket, and a promise means the client is slower. */
interface DirectController {
  write(text: string): number | Promise<number>
  flush(): number | Promise<number>
  end(): void
}

interface OpenStream {
  readonly controller: DirectController
  readonly abort: AbortController
  readonly listener: Listener
  /** As all times here on the clock that nobody sets. */
  lastWriteAt: number
  begun: boolean
  /** A write waits for the client: no heartbeat on top of it. */
  blocked: boolean
  /** The event that ends it was told. */
  over: boolean
  /** It was called off because the server stops, not because the client left. */
  stopped: boolean
}

/** Who is on the other end of a stream. */
export interface Listener {
  /** The tenant, for its share of the streams. */
  readonly owner: string
  /** The request that the stream answers. */
  readonly request: Request
  /** Closes the connection of a client that has stopped reading. */
  readonly drop: () => void
}

/** The sender of `request` as the listener to its answer. */
export const listenerOf = (
  principal: Principal,
  request: Request,
  server: Connections | null,
): Listener => ({
  owner: principal.tenantId,
  request,
  drop: () => server?.timeout(request, 1),
})

/** Sends events; a promise means that the client is slower than its stream. */
type Tell = (events: readonly StreamEvent[]) => Promise<void> | undefined

/** Tells the events of one stream; the signal aborts when nobody listens any more. */
type Start = (signal: AbortSignal, tell: Tell) => Promise<void>

export interface SseOptions {
  readonly clock: Clock
  readonly streamsMax: number
  /** Where the body of a request is counted for as long as its stream runs. */
  readonly room: Pick<BodyRoom, 'keep'>
  /** A source is to end its stream with an event; one that throws all the same is reported here. */
  readonly onError: (error: unknown) => void
}

/**
 * Serves event streams: headers leave within milliseconds, a comment keeps a silent stream alive, a
 * client that leaves aborts the work, and a client that reads slowly slows the work down instead
 * of filling memory. One timer beats for all streams.
 */
export function createSse({ clock, streamsMax, room, onError }: SseOptions) {
  const open = new Set<OpenStream>()
  const slots = createStreamSlots(streamsMax)
  const stopBeat = clock.every(HEARTBEAT_MS / 4, () => {
    for (const stream of open) beat(stream, clock)
  })

  const openSoon = together<OpenStream>(clock, OPENING_WAIT_MS, (stream) => {
    if (!stream.begun && open.has(stream)) write(stream, OPENING, clock)
  })

  function body(start: Start, listener: Listener): ReadableStream {
    const abort = new AbortController()
    const source = {
      type: 'direct' as const,
      pull: (controller: DirectController) =>
        serve(opened(controller, abort, listener, clock.steady()), start),
      cancel: () => abort.abort(),
    }
    return new ReadableStream(source as unknown as UnderlyingDefaultSource)
  }

  async function serve(stream: OpenStream, start: Start): Promise<void> {
    const { signal } = stream.abort
    open.add(stream)
    openSoon(stream)
    slots.take(stream.listener.owner)
    const letGo = room.keep(stream.listener.request)
    try {
      await start(signal, (events) => send(stream, events, clock))
    } catch (error) {
      if (!signal.aborted) onError(error)
    } finally {
      open.delete(stream)
      slots.giveBack(stream.listener.owner)
      letGo()
      if (stream.stopped && !stream.over) send(stream, [STOPPING], clock)
      if (stream.stopped || !signal.aborted) stream.controller.end()
    }
  }

  /**
   * Answers with the events that `start` tells, under the request's own `headers`. Its signal
   * aborts when the client has gone or the server stops. Throws `too_many_streams` at
   * the limit.
   */
  function respond(start: Start, headers: ResponseHeaders, listener: Listener): Response {
    slots.check(listener.owner)
    return new Response(body(start, listener), { headers: { ...takeHeaders(headers), ...HEADERS } })
  }

  return {
    respond,
    open: () => open.size,
    /**
     * Calls off what is open. It ends with an error event, so that no client takes it for a full
     * answer, unless its last event was under way already: a turn that is being stored is stored.
     */
    close() {
      stopBeat()
      for (const stream of open) {
        if (stream.abort.signal.aborted) continue
        stream.stopped = true
        stream.abort.abort()
      }
    },
  }
}

const opened = (
  controller: DirectController,
  abort: AbortController,
  listener: Listener,
  lastWriteAt: number,
): OpenStream => ({
  controller,
  abort,
  listener,
  lastWriteAt,
  begun: false,
  blocked: false,
  over: false,
  stopped: false,
})

function beat(stream: OpenStream, clock: Clock): void {
  const restMs = clock.steady() - stream.lastWriteAt
  if (!stream.blocked && restMs >= HEARTBEAT_MS * 0.75) write(stream, HEARTBEAT, clock)
  // Its upstream would be held, and paid for, as long as such a client likes.
  if (stream.blocked && restMs >= STREAM_STALL_MS_MAX) stream.listener.drop()
}

/** A promise means that the client is slower than its stream. */
function write(stream: OpenStream, text: string, clock: Clock, flush = true) {
  const written = stream.controller.write(text)
  if (flush) stream.controller.flush()
  stream.begun = true
  stream.lastWriteAt = clock.steady()
  return written
}

function send(
  stream: OpenStream,
  events: readonly StreamEvent[],
  clock: Clock,
): Promise<void> | undefined {
  let text = ''
  for (const event of events) text += frame(event)
  stream.over = LAST.has(events.at(-1)?.type ?? '')
  const written = write(stream, text, clock, !stream.over)
  return written instanceof Promise ? drained(stream, written) : undefined
}

/** Waits for a slow client; without this, what it does not read would pile up in memory. */
async function drained(stream: OpenStream, written: Promise<number>): Promise<void> {
  stream.blocked = true
  // A write to a client that has gone may never settle.
  await untilAborted(written, stream.abort.signal)
  stream.blocked = false
}

export type Sse = ReturnType<typeof createSse>
