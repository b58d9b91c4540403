import type { MemoryBudget } from '../core/memory-budget.ts'
import type { OpenTurns } from '../features/agent/open-turns.ts'
import { createAgent } from '../features/agent/service.ts'
import type { TurnConfigStore } from '../features/agent/store.ts'
import type { TurnCounts } from '../features/agent/turn-counts.ts'
import type { Asks } from '../features/asks/service.ts'
import type { Devices } from '../features/devices/service.ts'
import type { Admission } from '../features/usage/admission.ts'
import type { Usage } from '../features/usage/service.ts'
import { createToolRegistry } from '../tools/tool-box.ts'
import type { Adapters } from './adapters.ts'
import type { OpenedFiles } from './files.ts'
import type { Knowledge } from './knowledge.ts'
import type { openMcpServers } from './mcp.ts'
import type { OpenedMemories } from './memories.ts'
import type { openProvider } from './provider.ts'
import type { openReminders } from './runs.ts'
import type { openSessions } from './sessions.ts'

interface AgentNeeds {
  readonly openTurns: OpenTurns
  readonly usage: Usage
  readonly admission: Admission
  readonly devices: Devices
  readonly asks: Asks
  readonly kb: Knowledge
  readonly files: OpenedFiles
  readonly mcpServers: ReturnType<typeof openMcpServers>
  readonly provider: ReturnType<typeof openProvider>
  readonly sessions: ReturnType<typeof openSessions>
  readonly reminders: ReturnType<typeof openReminders>
  readonly memories: OpenedMemories
  readonly configs: TurnConfigStore
  readonly budget: MemoryBudget
  readonly turnCounts: TurnCounts
}

/** Wires the agent: what a turn knows, remembers and may call. */
export function openAgent(adapters: Adapters, needs: AgentNeeds) {
  const { openTurns, usage, admission, devices, configs, budget } = needs
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
    titles: sessions.titles,
    retrieve: kb.service.retrieve,
    access: kb.access,
    files: needs.files.inTurns,
    reminders: needs.reminders.tools,
    keep: needs.reminders.keep,
    memories: needs.memories.inTurns,
    turnCounts: needs.turnCounts,
    openTurns,
    usage,
    admit: admission.admit,
    devices,
    asks: needs.asks,
    configs,
    budget,
  })
}
