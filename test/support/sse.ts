import { createParser, type EventSourceMessage } from 'eventsource-parser'

export interface SseOptions {
  readonly headers?: Record<string, string>
  /** Sent as JSON unless it is a string. */
  readonly body: unknown
  readonly fetch?: (request: Request) => Promise<Response>
}

/** One frame: its `event:` line, and its `data:` line raw and parsed. */
export interface SseEvent {
  readonly event: string
  readonly raw: string
  readonly data: Record<string, unknown>
}

export interface SseStream extends AsyncIterable<SseEvent> {
  readonly status: number
  readonly headers: Headers
  /** The events so far; complete once the iteration has ended. */
  readonly events: readonly SseEvent[]
  readonly comments: readonly string[]
  /** The whole body; for answers that are no event stream. */
  text(): Promise<string>
  /** Reads to the end and returns every event. */
  all(): Promise<readonly SseEvent[]>
  /** Closes the connection, as a leaving client does. */
  abort(): void
}

/**
 * Posts `body` and reads the answer as an event stream. Resolves with the headers. Iterate for each
 * event as it arrives, or await `all()`; a frame whose data is no JSON object fails the reading.
 */
export async function postSse(url: string, options: SseOptions): Promise<SseStream> {
  const controller = new AbortController()
  const { body, headers } = options
  const request = new Request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    signal: controller.signal,
  })
  const response = await (options.fetch ?? fetch)(request)
  const events: SseEvent[] = []
  const comments: string[] = []
  const chunks = readEvents(response, events, comments)
  async function* iterate() {
    for (let next = 0; ; ) {
      while (next < events.length) yield events[next++] as SseEvent
      if ((await chunks.next()).done && next === events.length) return
    }
  }
  return {
    status: response.status,
    headers: response.headers,
    events,
    comments,
    text: () => response.text(),
    async all() {
      for await (const _ of iterate());
      return events
    },
    abort: () => controller.abort(),
    [Symbol.asyncIterator]: iterate,
  }
}

/** Fills both lists, and yields after every read so that a waiting reader checks again. */
async function* readEvents(response: Response, events: SseEvent[], comments: string[]) {
  const parser = createParser({
    onEvent: (message) => events.push(parseEvent(message)),
    onComment: (comment) => comments.push(comment),
  })
  const decoder = new TextDecoder('utf-8', { fatal: true })
  for await (const chunk of response.body ?? []) {
    parser.feed(decoder.decode(chunk, { stream: true }))
    yield
  }
}

function parseEvent({ event, data: raw }: EventSourceMessage): SseEvent {
  const data: unknown = JSON.parse(raw)
  if (typeof data !== 'object' || data === null) throw new Error(`no JSON object: ${raw}`)
  return { event: event ?? 'message', raw, data: { ...data } }
}
