import type { ErrorCode } from '../../core/errors.ts'
import type { AgentEvent } from '../agent/events.ts'

/** What a visitor learns of a turn. */
export type VisitorEvent =
  /** Titles of the documents that the answer draws on; nothing opens them. */
  | { readonly type: 'sources'; readonly sources: readonly VisitorSource[] }
  | { readonly type: 'llm_delta'; readonly text: string }
  /** What was shown of the answer is void: it begins anew. */
  | { readonly type: 'restart' }
  | { readonly type: 'llm_end'; readonly reply: string }
  | { readonly type: 'error'; readonly message: string; readonly code: ErrorCode }

interface VisitorSource {
  readonly title: string
  readonly page: number | null
}

/** Errors that say something to a visitor; all others are the tenant's affair. */
const TOLD: ReadonlySet<ErrorCode> = new Set([
  ...(['server_stopping', 'session_full', 'turn_too_long', 'turn_memory_full'] as const),
])

/** The visible part of an event: no ids, addresses, scores, tools, tokens or channels. */
export function visibleTo(event: AgentEvent, hidden: VisitorEvent): VisitorEvent[] {
  switch (event.type) {
    case 'kb_refs':
      return [{ type: 'sources', sources: sourcesOf(event.refs) }]
    case 'llm_delta':
      return [{ type: 'llm_delta', text: event.text }]
    case 'provider_fallback':
      return [{ type: 'restart' }]
    case 'llm_end':
      return [{ type: 'llm_end', reply: event.reply }]
    case 'error':
      return [TOLD.has(event.code) ? event : hidden]
    default:
      return []
  }
}

function sourcesOf(refs: readonly { title: string; page: number | null }[]): VisitorSource[] {
  const sources = new Map<string, VisitorSource>()
  for (const { title, page } of refs) sources.set(`${title}\n${page}`, { title, page })
  return [...sources.values()]
}

/** How these events are streamed, for http/sse.ts. */
export const VISITOR_STREAM = {
  frame: (event: VisitorEvent) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
  isLast: ({ type }: VisitorEvent) => type === 'llm_end' || type === 'error',
  onStop: (reason: { readonly message: string; readonly code: ErrorCode }): VisitorEvent => ({
    type: 'error',
    ...reason,
  }),
}
