import type { Config } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import type { Tool } from '../features/agent/tools/tool.ts'

/** The built-in tools, in the order a model is offered them. */
export function builtInTools(_config: Config, _clock: Clock): Tool[] {
  return []
}
