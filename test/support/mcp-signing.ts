import { expect } from 'bun:test'
import type { McpServer } from '../../src/features/mcp-servers/model.ts'
import { startApp, type TestApp } from './app.ts'
import { type FakeClock, fakeClock } from './clock.ts'
import { type McpStandIn, type StandInOptions, startMcpServer } from './mcp-server.ts'
import { mcpTenant } from './mcp-tenant.ts'
import { startTokenIssuer, type TokenIssuer } from './token-issuer.ts'
import { startUpstream, type Upstream } from './upstream.ts'

export interface Signing {
  readonly upstream: Upstream
  readonly app: TestApp
  readonly server: McpStandIn
  readonly issuer: TokenIssuer
  readonly clock: FakeClock
}

/** The product, an MCP server that wants tokens, and the issuer of them. */
export async function startSigning(
  env: Readonly<Record<string, string>> = {},
  options: StandInOptions = {},
) {
  const upstream = await startUpstream()
  const server = startMcpServer(options)
  const issuer = startTokenIssuer()
  const clock = fakeClock()
  const app = await startApp({
    upstream: upstream.baseUrl,
    clock,
    env: { MB_ALLOW_PRIVATE_HOSTS: '127.0.0.1', ...env },
  })
  const parts = { upstream, app, server, issuer, clock }
  return {
    ...parts,
    guard: (document?: Record<string, unknown>, accepts?: Accepts) =>
      guard(parts, document, accepts),
    tenant: () => tenant(parts),
    async stop() {
      await app[Symbol.asyncDispose]()
      await upstream.stop()
      server[Symbol.dispose]()
      issuer[Symbol.dispose]()
    },
    reset() {
      server.reset()
      issuer.reset()
    },
  }
}

type Accepts = (header: string | null) => boolean

/** The MCP server takes tokens of the issuer alone, and names it. */
function guard(
  { server, issuer }: Signing,
  document: Record<string, unknown> = {},
  accepts: Accepts = issuer.accepts,
) {
  const origin = new URL(server.url).origin
  issuer.protects(server.url)
  server.fails((request) => {
    const { pathname } = new URL(request.url)
    if (pathname.startsWith('/.well-known/')) {
      return pathname === '/.well-known/oauth-protected-resource/mcp'
        ? Response.json({
            resource: server.url,
            authorization_servers: [issuer.url],
            scopes_supported: ['tools'],
            ...document,
          })
        : new Response(null, { status: 404 })
    }
    if (accepts(request.headers.get('authorization'))) return null
    const place = `${origin}/.well-known/oauth-protected-resource/mcp`
    const headers = { 'www-authenticate': `Bearer resource_metadata="${place}"` }
    return new Response('SECRET', { status: 401, headers })
  })
}

async function tenant(parts: Signing) {
  const { app, upstream, server, issuer } = parts
  const me = await mcpTenant(app, upstream)
  const { headers } = await app.person(me.email)
  return {
    ...me,
    signIn: async (id: string) => {
      const answer = await fetch(`${app.url}/console/mcp-servers/${id}/sign-in`, {
        method: 'POST',
        headers,
      })
      const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? ''
      const text = await answer.text()
      return { status: answer.status, text, cookie, url: (JSON.parse(text) as { url: string }).url }
    },
    /** The browser comes back; returns where it is sent. */
    back: async (place: URL, cookie: string, more: Record<string, string> = headers) => {
      const answer = await fetch(place, {
        redirect: 'manual',
        headers: { cookie: [more.cookie, cookie].filter(Boolean).join('; ') },
      })
      return answer.headers.get('location') ?? `status ${answer.status}`
    },
    /** Adds the server and signs in at it. */
    async signed(more: object = {}): Promise<McpServer> {
      guard(parts)
      const made = await me.add(server.url, { auth: 'oauth', ...more })
      const { url, cookie } = await this.signIn(made.id)
      expect(await this.back(issuer.consents(url), cookie)).toBe(`/app/tools?signed_in=${made.id}`)
      return me.read(made.id)
    },
  }
}
