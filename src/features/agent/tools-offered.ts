import type { Principal } from '../../core/principal.ts'
import type { Tool } from '../../tools/tool.ts'
import type { ToolsFor } from '../../tools/tool-box.ts'
import type { TurnRequest } from './turn.ts'
import type { ResolvedTurn } from './turn-config.ts'

/** Names all tools of the caller's own connection in an app's allow-list. */
const ALL_OWN = 'device__*'

/**
 * The tools of a turn: those of the caller's connection, as far as the app allows them, and the
 * server's. Of two with one name the client's is offered (contract 2, D6), then the connection's.
 */
export async function toolsOffered(
  toolsFor: ToolsFor,
  principal: Principal,
  resolved: ResolvedTurn,
  { conversation, ownTools = [] }: TurnRequest,
): Promise<readonly Tool[]> {
  if (conversation?.toolChoice === 'none') return []
  const tools = await toolsFor(principal, resolved)
  const own = ownTools.filter(({ spec }) => isAllowed(spec.name, resolved.tools))
  const clientTools = conversation?.clientTools ?? []
  if (clientTools.length === 0 && own.length === 0) return tools
  const taken = new Set([...clientTools, ...own.map(({ spec }) => spec)].map(({ name }) => name))
  return [...own, ...tools.filter(({ spec }) => !taken.has(spec.name))]
}

/** Without a list they are offered: they are the device's own (contract 2, 4.2). */
const isAllowed = (name: string, allowed: readonly string[] | null): boolean =>
  allowed === null || allowed.includes(name) || allowed.includes(ALL_OWN)
