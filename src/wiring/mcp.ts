import { version } from '../../package.json'
import type { Agent } from '../features/agent/service.ts'
import type { TurnConfigStore } from '../features/agent/store.ts'
import { createAsk } from '../features/mcp/ask.ts'
import { createMcpDoor } from '../features/mcp/service.ts'
import { createMcp } from '../http/mcp.ts'
import type { Adapters } from './adapters.ts'

export interface McpParts extends Pick<Adapters, 'kb' | 'clock' | 'log'> {
  readonly agent: Agent
  readonly configs: TurnConfigStore
}

/** Wires what other programs reach by MCP. */
export function openMcp({ kb, clock, log, agent, configs }: McpParts) {
  const ask = createAsk(agent, clock)
  const door = createMcpDoor({ log, kb: kb.service, usesKb: configs.usesKb, ask })
  return { mcp: createMcp({ version, log }), door }
}
