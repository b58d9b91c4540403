import { type QueryClient, useQuery } from '@tanstack/react-query'
import { api } from '../../api/index.ts'
import type { McpServer, McpTool } from '../../api/types.ts'
import { reload } from '../../lib/reload.ts'

const SERVERS = ['mcp-servers']
/** Lists change in the background, and servers come back. */
const POLL_MS = 20_000

export const useServers = () =>
  useQuery({
    queryKey: SERVERS,
    queryFn: api.mcpServers.list,
    refetchInterval: POLL_MS,
    retry: false,
  })

/** Asks a server for its tools; what came of it is shown also when it fails. */
export const refreshServer = (client: QueryClient, id: string): Promise<McpServer> =>
  api.mcpServers.refresh(id).finally(() => void reload(client, SERVERS))

/** What somebody has read of a tool before approving it. */
const readOf = ({ name, description, schema_chars, title, state }: McpTool) =>
  [name, description, schema_chars, title, state].join('\n')

/**
 * Approves tools as they are shown, or takes approvals back, and leaves the others. Resolves with
 * false when the server has changed one of them since it was shown: nothing is approved then.
 */
export async function decide(
  shown: McpServer,
  tools: readonly McpTool[],
  approve: boolean,
): Promise<boolean> {
  const now = await api.mcpServers.read(shown.id)
  const read = new Set(now.tools.map(readOf))
  if (approve && !tools.every((tool) => read.has(readOf(tool)))) return false
  const decided = new Set(tools.map(({ name }) => name))
  const approved = now.tools.filter(({ name, state }) =>
    decided.has(name) ? approve : state === 'approved',
  )
  await api.mcpServers.approve(
    shown.id,
    approved.map(({ name }) => name),
  )
  return true
}
