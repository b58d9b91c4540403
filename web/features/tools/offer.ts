import { MCP_SCHEMAS_CHARS_MAX, MCP_TOOLS_OFFERED_MAX } from '../../../src/core/limits/contract.ts'
import type { App, McpServer, McpTool } from '../../api/types.ts'

/** The name that stands for all approved tools of a server. */
export const allOf = ({ name }: Pick<McpServer, 'name'>): string => `${name}__*`

/** Whether a name of a list of tools is one of this server's. */
export const isOf = (server: McpServer, name: string): boolean =>
  name === allOf(server) || server.tools.some(({ call_name }) => call_name === name)

/** A changed tool stays one while others are approved, although the server then calls it new. */
export const stateOf = ({ state, approved_description }: McpTool): McpTool['state'] =>
  state === 'new' && approved_description !== undefined ? 'changed' : state

export const approvedOf = ({ tools }: McpServer): McpTool[] =>
  tools.filter(({ state }) => state === 'approved')

export const charsOf = (tools: readonly McpTool[]): number =>
  tools.reduce((sum, { schema_chars }) => sum + schema_chars, 0)

export interface Offer {
  readonly tools: readonly McpTool[]
  /** Characters of their schemas. */
  readonly chars: number
  /** Tools that no longer fit into a turn. */
  readonly leftOut: readonly McpTool[]
}

/** The tools that a turn with these names offers to the model, by the server's rules. */
export function offerOf(servers: readonly McpServer[], names: readonly string[]): Offer {
  const ready = servers.filter(({ enabled, state }) => enabled && state === 'ready')
  const named = names.flatMap((name) =>
    ready.flatMap((server) =>
      approvedOf(server).filter(({ call_name }) => name === allOf(server) || name === call_name),
    ),
  )
  const wanted = [...new Set(named)]
  const end = wanted.findIndex(
    (_, i) => i >= MCP_TOOLS_OFFERED_MAX || charsOf(wanted.slice(0, i + 1)) > MCP_SCHEMAS_CHARS_MAX,
  )
  const tools = end < 0 ? wanted : wanted.slice(0, end)
  return { tools, chars: charsOf(tools), leftOut: wanted.slice(tools.length) }
}

/** The names after one tool was ticked or unticked; the name for all of a server is expanded. */
export function toggled(
  names: readonly string[],
  server: McpServer,
  name: string,
  on: boolean,
): string[] {
  const others = names.filter((one) =>
    name === allOf(server) && on ? !isOf(server, one) : one !== name,
  )
  return on ? [...others, name] : others
}

/** The apps that use a tool of this server. */
export const appsWith = (server: McpServer, apps: readonly App[]): App[] =>
  apps.filter(({ tools_enabled }) => tools_enabled?.some((name) => isOf(server, name)))
