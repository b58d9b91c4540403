import type { McpServer } from '../../src/features/mcp-servers/model.ts'
import { caller } from './api.ts'
import type { TestApp } from './app.ts'
import type { Upstream } from './upstream.ts'

let tenants = 0

/** A new tenant that uses MCP servers: its API calls, and the tools of its turns. */
export async function mcpTenant(app: TestApp, upstream: Upstream) {
  const email = `mcp${++tenants}@example.com`
  const key = await app.key(email)
  const api = caller(`${app.url}/v1`, key.headers)
  const console = caller(`${app.url}/console`, (await app.person(email)).headers)
  const read = async (id: string) => (await api<McpServer>('GET', `/mcp-servers/${id}`)).json()

  return {
    email,
    key,
    api,
    console,
    read,

    async add(url: string, more: object = {}): Promise<McpServer> {
      const body = { name: 'home', url, ...more }
      const answer = await api<McpServer>('POST', '/mcp-servers', body)
      if (answer.status !== 201) throw new Error(answer.text)
      return answer.json()
    },

    /** Approves all tools of a server, and chooses all of them for turns without an app. */
    async use({ id, name, tools }: McpServer): Promise<McpServer> {
      await console('PUT', '/settings', { mcp_tools: [`${name}__*`] })
      const approved = tools.map((tool) => tool.name)
      return (await api<McpServer>('PUT', `/mcp-servers/${id}/tools`, { approved })).json()
    },

    /** Names of the tools that a turn of `by` offers to the model. */
    async offered(by: Readonly<Record<string, string>> = key.headers): Promise<string[]> {
      upstream.reset()
      await ask(by)
      return namesIn((await upstream.nextRequest()).body)
    },

    /** Runs a turn whose model calls a tool; returns what the client and the model get. */
    async calls(name: string, args: object = {}) {
      upstream.reset()
      upstream.reply({ toolCalls: [{ name, arguments: JSON.stringify(args) }] })
      const events = await ask(key.headers)
      const content = String(upstream.requests.at(-1)?.body.messages.at(-1)?.content)
      return { ok: events.includes('"ok":true'), content, events }
    },
  }

  async function ask(headers: Readonly<Record<string, string>>): Promise<string> {
    const body = JSON.stringify({ text: 'x', session_id: crypto.randomUUID() })
    const response = await fetch(`${app.url}/v1/agent`, { method: 'POST', headers, body })
    return response.text()
  }
}

export type McpTenant = Awaited<ReturnType<typeof mcpTenant>>

const namesIn = (body: unknown): string[] =>
  ((body as { tools?: { function: { name: string } }[] }).tools ?? []).map(
    ({ function: { name } }) => name,
  )
