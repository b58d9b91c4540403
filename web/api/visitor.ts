import { createParser } from 'eventsource-parser'
import { words } from '../share/words.ts'

export interface Source {
  readonly title: string
  readonly page: number | null
}

export interface Listener {
  onSources(sources: readonly Source[]): void
  /** The answer so far. */
  onText(text: string): void
}

type Event =
  | { readonly type: 'sources'; readonly sources: readonly Source[] }
  | { readonly type: 'llm_delta'; readonly text: string }
  | { readonly type: 'restart' }
  | { readonly type: 'llm_end'; readonly reply: string }
  | { readonly type: 'error' }

/** A turn that failed, in words for the visitor. */
export class TurnFault extends Error {}

function faultOf(status: number, code: string | null): TurnFault {
  if (status === 404) return new TurnFault(words.gone)
  if (status === 429) return new TurnFault(code === 'budget_spent' ? words.spent : words.often)
  return new TurnFault(words.failed)
}

/** Asks; resolves with the whole answer. Throws `TurnFault`, and the reason of an abort. */
export async function ask(
  text: string,
  session: string,
  listener: Listener,
  signal: AbortSignal,
): Promise<string> {
  const response = await fetch(location.pathname, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text, session_id: session }),
    credentials: 'omit',
    signal,
  }).catch((error: unknown) => {
    signal.throwIfAborted()
    throw new TurnFault(words.away, { cause: error })
  })
  if (!response.ok || !response.body) {
    throw faultOf(response.status, response.headers.get('x-error-code'))
  }
  let shown = ''
  let reply: string | null = null
  const parser = createParser({
    onEvent({ data }) {
      const event = JSON.parse(data) as Event
      if (event.type === 'error') throw new TurnFault(words.failed)
      if (event.type === 'sources') listener.onSources(event.sources)
      if (event.type === 'restart') shown = ''
      if (event.type === 'llm_delta') shown += event.text
      if (event.type === 'llm_end') reply = event.reply
      listener.onText(reply ?? shown)
    },
  })
  const decoder = new TextDecoder()
  try {
    // Not every browser iterates over a stream.
    const reader = response.body.getReader()
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      parser.feed(decoder.decode(read.value, { stream: true }))
    }
  } catch (error) {
    signal.throwIfAborted()
    throw error instanceof TurnFault ? error : new TurnFault(words.away, { cause: error })
  }
  if (reply === null) throw new TurnFault(words.away)
  return reply
}
