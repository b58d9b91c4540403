import { untilAborted } from '../core/abort.ts'
import type { Clock } from '../core/clock.ts'
import { appError } from '../core/errors.ts'
import { STREAM_STALL_MS_MAX } from '../core/limits/machine.ts'
import { once } from '../core/once.ts'
import type { Principal } from '../core/principal.ts'
import { type ResponseHeaders, takeHeaders } from './entry.ts'
import { type Connections, createStreamSlots, type RequestMemory } from './request-limits.ts'

/** Common proxies and servers close a stream that is silent for 10 s. */
const HEARTBEAT_MS = 8_000
const HEARTBEAT = ': ping\n\n'
/** Bun sends the headers with the first byte, so a comment goes out at once. */
const OPENING = ': ok\n\n'

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
} as const

/** How the events of one endpoint look on the wire. */
export interface StreamFormat<Event> {
  /** The text of an event, with the blank line that ends it. */
  readonly frame: (event: Event) => string
  /** Whether the stream ends with this event. */
  readonly isLast: (event: Event) => boolean
  /** The event that ends a stream when the server stops before the stream is complete. */
  readonly onStop: (reason: { readonly code: 'server_stopping'; readonly message: string }) => Event
  /** In place of comments, in protocols that have none: at the start, and in silence. */
  readonly signs?: { readonly opening: string; readonly heartbeat: string }
  /** Default: an event stream. */
  readonly contentType?: string
}

/** Sends events; a promise means that the client reads more slowly than they come. */
type Emit<Event> = (events: readonly Event[]) => Promise<void> | undefined

/** Produces the events of one stream; the signal aborts when nobody reads them any more. */
type Produce<Event> = (signal: AbortSignal, emit: Emit<Event>) => Promise<unknown>

/**
 * Bun's direct stream: what is written until the running task ends goes to the socket in one packet
 * then, and a promise means that the client is slower.
 */
export interface DirectController {
  write(text: string): number | Promise<number>
  end(): void
}

/** The client that reads a stream. */
export interface StreamClient {
  /** The tenant, for its share of the streams. */
  readonly owner: string
  /** The request that the stream answers. */
  readonly request: Request
  /** Closes the connection of a client that has stopped reading. */
  readonly disconnect: () => void
}

/** The client that sent `request`, as the reader of the answer. */
export const clientOf = (
  principal: Principal,
  request: Request,
  server: Connections | null,
): StreamClient => ({
  owner: principal.tenantId,
  request,
  disconnect: () => server?.timeout(request, 1),
})

export interface SseOptions {
  readonly clock: Clock
  /** Most open streams, which a setting changes. */
  readonly streamsMax: () => number
  /** Counts the body of a request for as long as its stream runs. */
  readonly memory: Pick<RequestMemory, 'keep'>
  /** A producer ends its stream with an event; one that throws instead is reported here. */
  readonly onError: (error: unknown) => void
}

/** One stream on its connection. All times are on the steady clock. */
class OpenStream {
  readonly abort = new AbortController()
  /** The server is stopping; the client has not left. */
  stopped = false
  /** The last event was sent. */
  isOver = false
  /** A write waits for the client, so no heartbeat is added to it. */
  #isBlocked = false
  #lastWriteAt = 0

  constructor(
    readonly client: StreamClient,
    private readonly controller: DirectController,
    private readonly clock: Clock,
    private readonly heartbeat: string,
  ) {}

  write(text: string): Promise<void> | undefined {
    const written = this.controller.write(text)
    this.#lastWriteAt = this.clock.steady()
    return written instanceof Promise ? this.#drained(written) : undefined
  }

  end(): void {
    this.controller.end()
  }

  beat(): void {
    const silentMs = this.clock.steady() - this.#lastWriteAt
    if (!this.#isBlocked && silentMs >= HEARTBEAT_MS * 0.75) void this.write(this.heartbeat)
    // Otherwise the client decides how long the upstream call stays open and is paid for.
    if (this.#isBlocked && silentMs >= STREAM_STALL_MS_MAX) this.client.disconnect()
  }

  /** Waits for a slow client; otherwise everything that it has not read stays in memory. */
  async #drained(written: Promise<number>): Promise<void> {
    this.#isBlocked = true
    // A write to a client that has gone may never settle.
    await untilAborted(written, this.abort.signal)
    this.#isBlocked = false
  }
}

/** Runs work whose answer is sent as a whole, under the limits of streams. */
function createWholes(slots: ReturnType<typeof createStreamSlots>) {
  const open = new Set<AbortController>()
  return {
    open: () => open.size,

    /**
     * Settles as `work` does. Its signal aborts when the client has gone, and with an error when
     * the server stops. Throws `too_many_streams`.
     */
    async run<Result>(
      { owner, request }: StreamClient,
      work: (signal: AbortSignal) => Promise<Result>,
    ): Promise<Result> {
      slots.check(owner)
      const abort = new AbortController()
      const onLeave = () => abort.abort(request.signal.reason)
      request.signal.addEventListener('abort', onLeave, { once: true })
      if (request.signal.aborted) onLeave()
      slots.take(owner)
      open.add(abort)
      try {
        return await work(abort.signal)
      } finally {
        open.delete(abort)
        slots.giveBack(owner)
        request.signal.removeEventListener('abort', onLeave)
      }
    },

    stop(): void {
      for (const abort of open) abort.abort(appError('server_stopping'))
    },
  }
}

/**
 * Takes a slot, and keeps the body of the request counted, until the returned function is called;
 * it may be called more than once. Throws `too_many_streams`.
 */
function admit(
  { owner, request }: StreamClient,
  slots: ReturnType<typeof createStreamSlots>,
  memory: SseOptions['memory'],
): () => void {
  slots.check(owner)
  slots.take(owner)
  const release = memory.keep(request)
  return once(() => {
    slots.giveBack(owner)
    release()
  })
}

/**
 * Serves event streams. Headers leave at once, a comment keeps a silent stream open, a client that
 * leaves aborts the work, and a client that reads slowly slows the work down instead of filling
 * memory. One timer serves all streams.
 */
export function createSse({ clock, streamsMax, memory, onError }: SseOptions) {
  const open = new Set<OpenStream>()
  const slots = createStreamSlots(streamsMax, clock.steady)
  const wholes = createWholes(slots)
  const stopBeat = clock.every(HEARTBEAT_MS / 4, () => {
    for (const stream of open) stream.beat()
  })

  async function serve<Event>(
    stream: OpenStream,
    produce: Produce<Event>,
    { frame, isLast, onStop, signs }: StreamFormat<Event>,
  ): Promise<void> {
    const { signal } = stream.abort
    const emit: Emit<Event> = (events) => {
      let text = ''
      for (const event of events) {
        text += frame(event)
        stream.isOver = isLast(event)
      }
      return stream.write(text)
    }
    open.add(stream)
    try {
      const opening = signs?.opening ?? OPENING
      if (opening !== '') void stream.write(opening)
      await produce(signal, emit)
    } catch (error) {
      if (!signal.aborted) onError(error)
    } finally {
      open.delete(stream)
      if (stream.stopped && !stream.isOver) void emit([onStop(stopping())])
      if (stream.stopped || !signal.aborted) stream.end()
    }
  }

  /**
   * Answers with the events of `produce`, under the request's own `headers`. Its signal aborts when
   * the client has gone or the server stops. `giveBack` is what `hold` has returned for the client.
   * Throws `too_many_streams` at the limit.
   */
  function respond<Event>(
    produce: Produce<Event>,
    format: StreamFormat<Event>,
    headers: ResponseHeaders,
    client: StreamClient,
    giveBack = admit(client, slots, memory),
  ): Response {
    let stream: OpenStream | null = null
    let hasLeft = false
    // The body of a client that leaves at once may never be read.
    const onLeave = () => {
      hasLeft = true
      if (stream === null) giveBack()
    }
    // Nearly every body is read at once, and the signal of a request is dear to make.
    setImmediate(() => {
      if (stream !== null) return
      client.request.signal.addEventListener('abort', onLeave, { once: true })
      if (client.request.signal.aborted) onLeave()
    })
    const source = {
      type: 'direct' as const,
      async pull(controller: DirectController) {
        if (hasLeft) return controller.end()
        stream = new OpenStream(client, controller, clock, format.signs?.heartbeat ?? HEARTBEAT)
        await serve(stream, produce, format).finally(giveBack)
      },
      cancel() {
        stream?.abort.abort()
        onLeave()
      },
    }
    const body = new ReadableStream(source as unknown as UnderlyingDefaultSource)
    const type = format.contentType ? { 'content-type': format.contentType } : {}
    return new Response(body, { headers: { ...takeHeaders(headers), ...HEADERS, ...type } })
  }

  return {
    respond,
    /** Takes a slot for a stream that is to come; see `admit`. */
    hold: (client: StreamClient) => admit(client, slots, memory),
    whole: wholes.run,
    open: () => open.size + wholes.open(),
    /**
     * Aborts open streams. Each ends with an error event, so that no client takes it for a complete
     * answer, unless its last event is being sent: a turn that is being stored is still stored.
     */
    close() {
      stopBeat()
      for (const stream of open) {
        if (stream.abort.signal.aborted) continue
        stream.stopped = true
        stream.abort.abort()
      }
      wholes.stop()
    },
  }
}

function stopping() {
  const { code, message } = appError('server_stopping')
  return { code: code as 'server_stopping', message }
}

export type Sse = ReturnType<typeof createSse>
