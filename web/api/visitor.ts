import { createParser } from 'eventsource-parser'
import { words } from '../share/words.ts'

export interface Source {
  readonly title: string
  readonly page: number | null
}

/** What `[n]` of an answer stands for. */
export interface CitedPassage extends Source {
  /** `n`; absent of answers that were kept before it was told. */
  readonly number?: number
  readonly heading: string | null
  readonly text: string
}

export interface Listener {
  onSources(sources: readonly Source[]): void
  /** More passages that the answer cites. */
  onPassages(passages: readonly CitedPassage[]): void
  /** The answer so far. */
  onText(text: string): void
}

type Event =
  | { readonly type: 'sources'; readonly sources: readonly Source[] }
  | { readonly type: 'passages'; readonly passages: readonly CitedPassage[] }
  | { readonly type: 'llm_delta'; readonly text: string }
  | { readonly type: 'restart' }
  | { readonly type: 'llm_end'; readonly reply: string; readonly seq?: number }
  | { readonly type: 'error' }

/** A turn that failed, in words for the visitor. */
export class TurnFault extends Error {}

function faultOf(status: number, code: string | null): TurnFault {
  if (code === 'share_paused') return new TurnFault(words.paused)
  if (status === 404) return new TurnFault(words.gone)
  if (status === 429) return new TurnFault(code === 'budget_spent' ? words.spent : words.often)
  return new TurnFault(words.failed)
}

/** `seq` is its number in the session; null when it was not stored. */
export interface Answer {
  readonly reply: string
  readonly seq: number | null
}

/** Asks; resolves with the whole answer. Throws `TurnFault`, and the reason of an abort. */
export async function ask(
  text: string,
  session: string,
  listener: Listener,
  signal: AbortSignal,
): Promise<Answer> {
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
  let seq: number | null = null
  const parser = createParser({
    onEvent({ data }) {
      const event = JSON.parse(data) as Event
      if (event.type === 'error') throw new TurnFault(words.failed)
      if (event.type === 'sources') listener.onSources(event.sources)
      if (event.type === 'passages') listener.onPassages(event.passages)
      if (event.type === 'restart') shown = ''
      if (event.type === 'llm_delta') shown += event.text
      if (event.type === 'llm_end') {
        reply = event.reply
        seq = event.seq ?? null
      }
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
  return { reply, seq }
}

export type Reason = keyof typeof words.reasons

interface Given {
  readonly session: string
  readonly seq: number
  readonly rating: number
  readonly reason: Reason | null
}

/** Says whether an answer was good; false when that did not arrive. */
export async function giveFeedback({ session, ...given }: Given): Promise<boolean> {
  const response = await fetch(`${location.pathname}/feedback`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ session_id: session, ...given }),
    credentials: 'omit',
  }).catch(() => null)
  return response?.ok ?? false
}
