import type { MemoryBudget } from '../core/memory-budget.ts'
import type { OpenTurns } from '../features/agent/open-turns.ts'
import { createAgent } from '../features/agent/service.ts'
import type { TurnConfigStore } from '../features/agent/store.ts'
import type { Devices } from '../features/devices/service.ts'
import type { Keys } from '../features/keys/service.ts'
import type { Budgets, Usage } from '../features/usage/service.ts'
import { createToolRegistry } from '../tools/tool-box.ts'
import type { Adapters } from './adapters.ts'
import type { OpenedFiles } from './files.ts'
import type { Knowledge } from './knowledge.ts'
import type { openMcpServers } from './mcp.ts'
import type { openProvider } from './provider.ts'
import type { openSessions } from './sessions.ts'

interface AgentNeeds {
  readonly keys: Keys
  readonly openTurns: OpenTurns
  readonly usage: Usage
  readonly budgets: Budgets
  readonly devices: Devices
  readonly kb: Knowledge
  readonly files: OpenedFiles
  readonly mcpServers: ReturnType<typeof openMcpServers>
  readonly provider: ReturnType<typeof openProvider>
  readonly sessions: ReturnType<typeof openSessions>
  readonly configs: TurnConfigStore
  readonly budget: MemoryBudget
}

/** Wires the agent: what a turn knows, remembers and may call. */
export function openAgent(adapters: Adapters, needs: AgentNeeds) {
  const { keys, openTurns, usage, budgets, devices, configs, budget } = needs
  const { kb, mcpServers, provider, sessions } = needs
  return createAgent({
    clock: adapters.clock,
    log: adapters.log,
    meters: adapters.metrics.meters,
    turnOrder: adapters.shared.turnOrder,
    imageGuard: adapters.egress.publicOnly,
    builtInTools: createToolRegistry(adapters.tools, [kb.searchTool]),
    toolsOfServers: mcpServers.toolsOfServers,
    channelOf: provider.channelOf,
    sessions: sessions.service,
    memory: sessions.memory,
    folding: sessions.folding,
    retrieve: kb.service.retrieve,
    files: needs.files.inTurns,
    keys,
    openTurns,
    usage,
    budgets,
    devices,
    configs,
    budget,
  })
}
