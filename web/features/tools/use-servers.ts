import { type QueryClient, useQuery } from '@tanstack/react-query'
import { mcpServers } from '../../api/mcp-servers.ts'
import type { McpServer, McpTool } from '../../api/types.ts'
import { reload } from '../../lib/reload.ts'

const SERVERS = ['mcp-servers']
/** Lists change in the background, and servers come back. */
const POLL_MS = 20_000

export const useServers = () =>
  useQuery({
    queryKey: SERVERS,
    queryFn: mcpServers.list,
    refetchInterval: POLL_MS,
    retry: false,
  })

/** Lists a server's tools and shows the result, also a failure. */
export const refreshServer = (client: QueryClient, id: string): Promise<McpServer> =>
  mcpServers.refresh(id).finally(() => void reload(client, SERVERS))

/** The version of a tool that the person has read. */
export type ReadTool = Pick<McpTool, 'name' | 'hash'>

/** By server, the last decision about its tools. */
const last = new Map<string, Promise<unknown>>()

/** A decision is made of what the server has then, so each waits for the one before. */
function inTurn<T>(id: string, decision: () => Promise<T>): Promise<T> {
  const made = (last.get(id) ?? Promise.resolve()).then(decision)
  last.set(
    id,
    made.catch(() => {}),
  )
  return made
}

/**
 * Approves tools as they were read, or withdraws approvals; other tools stay unchanged. Resolves
 * with false when the server has changed one of them since; that one is not approved.
 */
export const decide = ({ id }: McpServer, read: readonly ReadTool[], approve: boolean) =>
  inTurn(id, () => decideNow(id, read, approve))

async function decideNow(
  id: string,
  read: readonly ReadTool[],
  approve: boolean,
): Promise<boolean> {
  const now = await mcpServers.read(id)
  const decided = new Set(read.map(({ name }) => name))
  const others = now.tools.filter(({ name, state }) => state === 'approved' && !decided.has(name))
  const ask = approve ? asking(now.tools, decided) : undefined
  const { tools } = await mcpServers.approve(id, approve ? [...others, ...read] : others, ask)
  const approved = new Set(
    tools.filter(({ state }) => state === 'approved').map(({ name }) => name),
  )
  return !approve || read.every(({ name }) => approved.has(name))
}

/** A tool that is approved for the first time asks, unless it only reads. */
const asking = (tools: readonly McpTool[], decided: ReadonlySet<string>): string[] =>
  tools
    .filter(({ name, ask, state, read_only, approved_description: earlier }) =>
      decided.has(name) && state === 'new' && earlier === undefined ? !read_only : ask,
    )
    .map(({ name }) => name)

/** Whether a person is asked before each call of the tool. */
export const setAsk = ({ id }: McpServer, tool: McpTool, on: boolean) =>
  inTurn(id, () => setAskNow(id, tool, on))

async function setAskNow(id: string, tool: McpTool, on: boolean): Promise<McpServer> {
  const { tools } = await mcpServers.read(id)
  const approved = tools.filter(({ state }) => state === 'approved')
  const asking = tools.filter((one) => (one.name === tool.name ? on : one.ask))
  return mcpServers.approve(
    id,
    approved,
    asking.map(({ name }) => name),
  )
}
