import type { KbRef } from '../agent/events.ts'

/** A passage as clients of OpenAI's API show sources (contract 2, D7). */
export interface UrlCitation {
  readonly start_index: 0
  readonly end_index: 0
  readonly title: string
  readonly url: string
}

/** `origin`: where the console of this server is reached. */
export const citationOf = (ref: KbRef, origin: string): UrlCitation => ({
  start_index: 0,
  end_index: 0,
  title: `${ref.title} #${ref.seq}${ref.page === null ? '' : ` p.${ref.page}`}`,
  url: ref.url ?? `${origin}/app/kb/${ref.doc_id}#${ref.seq}`,
})
