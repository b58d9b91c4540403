import type { Clock } from '../core/clock.ts'
import { createCalculator } from '../tools/calculator.ts'
import { createCurrentTime } from '../tools/current-time.ts'
import { createFetchUrl } from '../tools/fetch-url.ts'
import type { Tool } from '../tools/tool.ts'
import { createWebSearch } from '../tools/web-search.ts'
import type { UpstreamFetch } from '../upstream/net/upstream-call.ts'
import type { Parser } from '../upstream/ports/parser.ts'
import type { Egress } from './egress.ts'
import type { LiveSettings } from './live-settings.ts'

export interface ToolNeeds {
  readonly live: LiveSettings
  readonly clock: Clock
  readonly fetch: UpstreamFetch
  readonly egress: Egress
  readonly parser: Parser
}

/** The built-in tools, in the order a model is offered them; web search while an engine is set. */
export function openTools({ live, clock, fetch, egress, parser }: ToolNeeds) {
  const builtIn = [
    createCurrentTime(clock),
    createCalculator(),
    createFetchUrl({ fetchFor: egress.fetchFor, parser, clock }),
  ]
  return live.part(['MB_SEARCH_URL'], ({ MB_SEARCH_URL: root }): Tool[] =>
    root === undefined ? builtIn : [...builtIn, createWebSearch({ fetch, clock, root })],
  )
}
