import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import * as old from '@modelcontextprotocol/sdk/client/streamableHttp.js'

/** The official MCP clients behind one interface, connected to a server's `/v1/mcp`. */

export interface McpResult {
  readonly content: readonly { readonly type: string; readonly text: string }[]
  readonly structuredContent?: Record<string, unknown>
  readonly isError?: boolean
}

type Call = (name: string, args?: Record<string, unknown>) => Promise<McpResult>

export interface McpConnection {
  readonly revision: string | undefined
  readonly tools: readonly { readonly name: string; readonly annotations?: object | undefined }[]
  readonly call: Call
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** Where to connect, and with which headers. */
interface McpServer {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

type Connect = (server: McpServer) => Promise<McpConnection>

/** The client 2.x. */
const modern =
  (options: ConstructorParameters<typeof Client>[1]): Connect =>
  async ({ url, headers }) => {
    const client = new Client({ name: 'test', version: '1' }, options)
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${url}/v1/mcp`), { requestInit: { headers } }),
    )
    const { tools } = await client.listTools()
    return {
      revision: client.getNegotiatedProtocolVersion(),
      tools,
      call: async (name, args = {}) =>
        (await client.callTool({ name, arguments: args })) as McpResult,
      [Symbol.asyncDispose]: () => client.close(),
    }
  }

/** The client 1.x. */
export const oldClient: Connect = async ({ url, headers }) => {
  const client = new OldClient({ name: 'test', version: '1' })
  const transport = new old.StreamableHTTPClientTransport(new URL(`${url}/v1/mcp`), {
    requestInit: { headers },
  })
  await client.connect(transport as Parameters<typeof client.connect>[0])
  const { tools } = await client.listTools()
  return {
    revision: transport.protocolVersion,
    tools,
    call: async (name, args = {}) =>
      (await client.callTool({ name, arguments: args })) as McpResult,
    [Symbol.asyncDispose]: () => client.close(),
  }
}

/** The client 2.x as it decides itself. */
export const autoClient = modern({ versionNegotiation: { mode: 'auto' } })

/** The client 2.x, held to a revision before 2026-07-28. */
export const pinnedClient = modern({
  versionNegotiation: { mode: 'legacy' },
  supportedProtocolVersions: ['2025-06-18'],
})
