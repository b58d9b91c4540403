import type { Parser } from '../channels/ports/parser.ts'
import type { Clock } from '../core/clock.ts'
import { createCalculator } from '../tools/calculator.ts'
import { createCurrentTime } from '../tools/current-time.ts'
import { createFetchUrl } from '../tools/fetch-url.ts'
import type { Tool } from '../tools/tool.ts'
import type { Egress } from './egress.ts'

/** The built-in tools, in the order a model is offered them. */
export function builtInTools(clock: Clock, { fetchFor }: Egress, parser: Parser): Tool[] {
  return [createCurrentTime(clock), createCalculator(), createFetchUrl({ fetchFor, parser, clock })]
}
