import type { McpServer } from '../../src/features/mcp-servers/model.ts'
import type { TestApp } from './app.ts'
import type { McpTenant } from './mcp-tenant.ts'
import { postSse, type SseEvent, type SseStream } from './sse.ts'
import type { Upstream } from './upstream.ts'

/** Approves all tools of a server, of which all ask; all are offered without an app. */
export async function useAsking(me: McpTenant, server: McpServer): Promise<McpServer> {
  const { id, tools } = await me.use(server)
  const approved = tools.map(({ name }) => name)
  const path = `/mcp-servers/${id}/tools`
  return (await me.api<McpServer>('PUT', path, { approved, ask: approved })).json()
}

/** Reads until an event of this type has come `count` times; the last of them. */
export async function untilEvent(stream: SseStream, type: string, count = 1): Promise<SseEvent> {
  const found = () => stream.events.filter(({ event }) => event === type)
  if (found().length < count) {
    for await (const _ of stream) if (found().length >= count) break
  }
  const event = found()[count - 1]
  if (!event) throw new Error(`no ${type}: ${JSON.stringify(stream.events)}`)
  return event
}

/** A turn whose model calls a tool first. */
export function askingTurn(
  { app, upstream }: { readonly app: Pick<TestApp, 'url'>; readonly upstream: Upstream },
  headers: Record<string, string>,
  { name = 'home__echo', args = { text: 'hi' } as object, times = 1, path = '/v1/agent', ...more },
): Promise<SseStream> {
  const toolCalls = Array.from({ length: times }, () => ({ name, arguments: JSON.stringify(args) }))
  upstream.reply({ toolCalls })
  const body = { text: 'x', session_id: crypto.randomUUID(), interactive: true, ...more }
  return postSse(`${app.url}${path}`, { headers, body })
}
