import type { AgentEvent, KbRef, TurnStats } from '../../features/agent/events.ts'
import type { ModelAnswer } from '../../features/agent/model-loop.ts'
import type { FileRef } from '../../features/files/quotes.ts'

/** The object `moonbase` beside an answer has the fields of the events. */

export const refsOf = (events: readonly AgentEvent[]): KbRef[] =>
  events.flatMap((event) => (event.type === 'kb_refs' ? event.refs : []))

const fileRefsOf = (events: readonly AgentEvent[]): FileRef[] =>
  events.flatMap((event) => (event.type === 'file_refs' ? event.refs : []))

/** The fields that are known only at the end. */
export const endOf = ({ modelCalls, channel, usage }: ModelAnswer, stats: TurnStats | null) => ({
  stats: {
    iterations: modelCalls,
    channel: channel.label,
    ...(stats?.kb === 'skipped' ? { kb: stats.kb } : {}),
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
  const fallback = events.find((event) => event.type === 'provider_fallback')
  const stats = events.find((event) => event.type === 'stats') ?? null
  return {
    ...(refs.length > 0 ? { kb_refs: refs } : {}),
    ...(fileRefs.length > 0 ? { file_refs: fileRefs } : {}),
    ...(fallback ? { provider_fallback: { from: fallback.from, reason: fallback.reason } } : {}),
    ...(results.length > 0 ? { tool_results: results } : {}),
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
