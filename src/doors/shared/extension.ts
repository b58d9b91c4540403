import type { AgentEvent, KbRef, TurnStats } from '../../features/agent/events.ts'
import type { ModelAnswer } from '../../features/agent/model-loop.ts'
import type { FileRef } from '../../features/files/quotes.ts'

/** The object `moonbase` beside an answer has the fields of the events. */

export const refsOf = (events: readonly AgentEvent[]): KbRef[] =>
  events.flatMap((event) => (event.type === 'kb_refs' ? event.refs : []))

const fileRefsOf = (events: readonly AgentEvent[]): FileRef[] =>
  events.flatMap((event) => (event.type === 'file_refs' ? event.refs : []))

/** What clients are told of an event beside the answer; null for an event of another kind. */
export function toldOf(event: AgentEvent): object | null {
  switch (event.type) {
    case 'kb_refs':
    case 'file_refs':
      return { [event.type]: event.refs }
    case 'tool_call':
      return { tool_call: { name: event.name } }
    case 'memory':
    case 'provider_fallback':
    case 'tool_result': {
      const { type, ...data } = event
      return { [type]: data }
    }
    default:
      return null
  }
}

/** The reasoning of the channel that answered: a takeover starts over. */
export function reasoningOf(events: readonly AgentEvent[]): string {
  const since = events.findLastIndex(({ type }) => type === 'provider_fallback') + 1
  const thoughts = events.slice(since).filter((event) => event.type === 'thinking_delta')
  return thoughts.map(({ text }) => text).join('')
}

/** The fields that are known only at the end. */
export const endOf = ({ modelCalls, channel, usage }: ModelAnswer, stats: TurnStats | null) => ({
  stats: {
    iterations: modelCalls,
    channel: channel.label,
    ...(stats?.kb === 'skipped' ? { kb: stats.kb } : {}),
    ...(stats?.memory ? { memory: stats.memory } : {}),
  },
  ...(usage.isEstimated ? { usage_estimated: true } : {}),
})

/** The whole object, from all events of a turn. */
export function extensionOf(answer: ModelAnswer, events: readonly AgentEvent[]) {
  const refs = refsOf(events)
  const fileRefs = fileRefsOf(events)
  const results = events.flatMap((event) =>
    event.type === 'tool_result' ? [{ name: event.name, ok: event.ok }] : [],
  )
  const memory = events.flatMap((event) =>
    event.type === 'memory' ? [{ action: event.action, id: event.id, text: event.text }] : [],
  )
  const fallback = events.find((event) => event.type === 'provider_fallback')
  const stats = events.find((event) => event.type === 'stats') ?? null
  return {
    ...(refs.length > 0 ? { kb_refs: refs } : {}),
    ...(fileRefs.length > 0 ? { file_refs: fileRefs } : {}),
    ...(fallback ? { provider_fallback: { from: fallback.from, reason: fallback.reason } } : {}),
    ...(results.length > 0 ? { tool_results: results } : {}),
    ...(memory.length > 0 ? { memory } : {}),
    ...endOf(answer, stats),
  }
}

/** A passage as clients of OpenAI's API show sources. */
export interface UrlCitation {
  readonly start_index: 0
  readonly end_index: 0
  readonly title: string
  readonly url: string
}

/** `site`: the address of this server's console. */
export const citationOf = (ref: KbRef, site: string): UrlCitation => ({
  start_index: 0,
  end_index: 0,
  title: `${ref.title} #${ref.seq}${ref.page === null ? '' : ` p.${ref.page}`}`,
  url: ref.url ?? `${site}/app/kb/${ref.doc_id}#${ref.seq}`,
})
