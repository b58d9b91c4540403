import { createParser } from 'eventsource-parser'

export interface NumberedEvent {
  readonly id: number
  readonly type: string
  readonly data: Record<string, unknown>
}

/** A stream of numbered events that is read bit by bit. */
export interface NumberedStream {
  readonly status: number
  readonly events: readonly NumberedEvent[]
  /** Reads until an event fulfils the condition. Throws when the stream ends before. */
  until(found: (event: NumberedEvent) => boolean): Promise<NumberedEvent>
  all(): Promise<readonly NumberedEvent[]>
  leave(): void
}

async function open(request: Request, leaving: AbortController): Promise<NumberedStream> {
  const response = await fetch(request, { signal: leaving.signal })
  const events: NumberedEvent[] = []
  const parser = createParser({
    onEvent({ id, event, data }) {
      events.push({ id: Number(id ?? 0), type: event ?? '', data: JSON.parse(data) })
    },
  })
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  async function more(): Promise<boolean> {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
    if (value) parser.feed(decoder.decode(value, { stream: true }))
    return !done
  }
  return {
    status: response.status,
    events,
    async until(found) {
      for (;;) {
        const event = events.find(found)
        if (event) return event
        if (!(await more())) throw new Error(`the stream ended: ${JSON.stringify(events)}`)
      }
    },
    async all() {
      while (await more());
      return events
    },
    leave: () => leaving.abort(),
  }
}

/** Begins a detached turn at the console. */
export function detach(
  url: string,
  headers: Record<string, string>,
  body: object,
): Promise<NumberedStream> {
  const leaving = new AbortController()
  const request = new Request(`${url}/console/agent`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ detached: true, ...body }),
  })
  return open(request, leaving)
}

/** Reads the events of a turn after number `after`. */
export function replay(
  url: string,
  headers: Record<string, string>,
  turnId: string,
  more: { readonly after?: number | string; readonly lastEventId?: number } = {},
): Promise<NumberedStream> {
  const query = more.after === undefined ? '' : `?after=${more.after}`
  const last = more.lastEventId === undefined ? {} : { 'last-event-id': String(more.lastEventId) }
  const request = new Request(`${url}/console/agent/turns/${turnId}/events${query}`, {
    headers: { ...headers, ...last },
  })
  return open(request, new AbortController())
}
