import type { Config } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import { createCalculator } from '../tools/calculator.ts'
import { createCurrentTime } from '../tools/current-time.ts'
import { createFetchUrl } from '../tools/fetch-url.ts'
import type { Tool } from '../tools/tool.ts'
import { guardedFetch } from './guarded.ts'

/** The built-in tools, in the order a model is offered them. */
export function builtInTools(config: Config, clock: Clock, fetcher: typeof fetch): Tool[] {
  return [
    createCurrentTime(clock),
    createCalculator(),
    createFetchUrl({ fetch: guardedFetch(config, clock, fetcher), clock }),
  ]
}
