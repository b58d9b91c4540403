import { call, segment } from './client.ts'
import type * as T from './types.ts'

const at = (id: string, rest = '') => `/console/mcp-servers/${segment(id)}${rest}`

/** The MCP servers of a tenant. All calls throw `ApiError`. */
export const mcpServers = {
  list: () => call<{ servers: T.McpServer[] }>('GET', '/console/mcp-servers'),
  read: (id: string) => call<T.McpServer>('GET', at(id)),
  create: (input: T.McpServerInput) => call<T.McpServer>('POST', '/console/mcp-servers', input),
  update: (id: string, input: T.McpServerInput) => call<T.McpServer>('PUT', at(id), input),
  remove: (id: string) => call<unknown>('DELETE', at(id)),
  /** Asks the server for its tools. */
  refresh: (id: string) => call<T.McpServer>('POST', at(id, '/refresh')),
  signIn: (id: string) => call<{ url: string }>('POST', at(id, '/sign-in')),
  signOut: (id: string) => call<unknown>('DELETE', at(id, '/sign-in')),
  /** Approves exactly these tools, if they have not changed since they were read. */
  approve: (
    id: string,
    read: readonly { readonly name: string; readonly hash: string }[],
    ask?: readonly string[],
  ) =>
    call<T.McpServer>('PUT', at(id, '/tools'), {
      approved: read.map(({ name }) => name),
      ...(ask ? { ask } : {}),
      hashes: Object.fromEntries(read.map(({ name, hash }) => [name, hash])),
    }),
  definition: (id: string, tool: string) =>
    call<T.McpDefinition>('GET', `${at(id, '/definition')}?tool=${encodeURIComponent(tool)}`),
  /** Calls a tool as a person who tries it. */
  call: (id: string, tool: string, args: object) =>
    call<T.McpCallResponse>('POST', at(id, '/call'), { tool, arguments: args }),
}
