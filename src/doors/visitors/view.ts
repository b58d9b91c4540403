import { appError, type ErrorCode } from '../../core/errors.ts'
import type { AgentEvent } from '../../features/agent/events.ts'

/** The events of a turn that a visitor gets. */
export type VisitorEvent =
  /** Titles of the documents that the answer is based on; visitors cannot open them. */
  | { readonly type: 'sources'; readonly sources: readonly VisitorSource[] }
  /** Those that the answer cites: `[1]` in it stands for the one with the number 1. */
  | { readonly type: 'passages'; readonly passages: readonly VisitorPassage[] }
  | { readonly type: 'llm_delta'; readonly text: string }
  /** The answer starts over: the text shown so far is to be removed. */
  | { readonly type: 'restart' }
  /** `seq` is the number of the turn in its session; absent when it was not stored. */
  | { readonly type: 'llm_end'; readonly reply: string; readonly seq?: number }
  | { readonly type: 'error'; readonly message: string; readonly code: ErrorCode }

interface VisitorSource {
  readonly title: string
  readonly page: number | null
}

interface VisitorPassage extends VisitorSource {
  readonly number: number
  readonly heading: string | null
  readonly text: string
}

/** Errors that visitors see; all others become `UNAVAILABLE`. */
const TOLD: ReadonlySet<ErrorCode> = new Set([
  ...(['server_stopping', 'session_full', 'turn_too_long', 'turn_memory_full'] as const),
])

type Shown = AgentEvent & { readonly type: 'kb_refs' }

/** The visible part of a turn's events: no ids, addresses, scores, tools, tokens or channels. */
export function createView() {
  const citedIn = createCitations()
  return (event: AgentEvent): VisitorEvent[] => {
    switch (event.type) {
      case 'kb_refs':
        citedIn.show(event)
        return [{ type: 'sources', sources: sourcesOf(event.refs) }]
      case 'llm_delta':
        return [...citedIn.more(event.text), { type: 'llm_delta', text: event.text }]
      case 'provider_fallback':
        citedIn.restart()
        return [{ type: 'restart' }]
      case 'llm_end':
        return [
          ...citedIn.whole(event.reply),
          { type: 'llm_end', reply: event.reply, ...seqOf(event) },
        ]
      case 'error':
        return [TOLD.has(event.code) ? event : UNAVAILABLE]
      default:
        return []
    }
  }
}

/** A number in an answer, as its readers' page shows it. */
const CITATION = /\[(\d{1,2})\]/g
/** What of a citation may stand at the end of a piece: all of it but its bracket. */
const TAIL_CHARS = 3

/** Passages that the model was shown, told when the answer cites them, each once. */
function createCitations() {
  let open = new Map<number, VisitorPassage>()
  let tail = ''

  function citedIn(text: string): VisitorEvent[] {
    const passages = [...text.matchAll(CITATION)].flatMap(([, digits]) => {
      const passage = open.get(Number(digits))
      open.delete(Number(digits))
      return passage ?? []
    })
    return passages.length > 0 ? [{ type: 'passages', passages }] : []
  }

  return {
    show({ refs, texts = [] }: Shown): void {
      open = new Map(
        refs.map(({ title, page, heading }, at) => {
          const number = at + 1
          return [number, { number, title, page, heading, text: texts[at] ?? '' }]
        }),
      )
    },
    more(piece: string): VisitorEvent[] {
      const text = tail + piece
      tail = text.slice(-TAIL_CHARS)
      return citedIn(text)
    },
    whole: citedIn,
    restart(): void {
      tail = ''
    },
  }
}

const seqOf = ({ seq }: { readonly seq?: number }) => (seq === undefined ? {} : { seq })

function sourcesOf(refs: readonly { title: string; page: number | null }[]): VisitorSource[] {
  const sources = new Map<string, VisitorSource>()
  for (const { title, page } of refs) sources.set(`${title}\n${page}`, { title, page })
  return [...sources.values()]
}

/** The error that a visitor sees in place of one that only concerns the tenant. */
const UNAVAILABLE: VisitorEvent = {
  type: 'error',
  code: 'turn_unavailable',
  message: appError('turn_unavailable').message,
}
