import { Elysia } from 'elysia'
import { appError } from '../../core/errors.ts'
import { LOGIN_STEPS_PER_MINUTE_MAX, OAUTH_FLOW_SECONDS_MAX } from '../../core/limits/machine.ts'
import { MANAGERS } from '../../core/principal.ts'
import type { Gated } from '../../http/gate.ts'
import { REDIRECT_DOC } from '../../http/openapi-parts.ts'
import type { Origins } from '../../http/origin.ts'
import type { AddressLimit, PersonLimit } from '../../http/request-limits.ts'
import { type ConsoleSessions, cookie, cookieValues } from '../../http/session.ts'
import type { AuditCode } from '../audit/service.ts'
import { McpClientDocument, McpServerDeleteResponse, McpSignInResponse } from './model.ts'
import type { McpServers } from './service.ts'
import { clientDocument, cookieOf } from './sign-in.ts'

export interface McpSignInParts {
  readonly sessions: Pick<ConsoleSessions, 'find' | 'isSecure'>
  readonly origins: Origins
  readonly addressLimit: AddressLimit
  readonly auditCode: AuditCode
}

/** Any path may lie between this server and the browser, so the cookie is for all of them. */
const flowCookie = (
  { sessions }: Pick<McpSignInParts, 'sessions'>,
  request: Request,
  name: string,
  value: string,
  maxAgeSeconds: number,
) => cookie(name, value, { path: '/', maxAgeSeconds, secure: sessions.isSecure(request) })

/** Routes of the console: sends a person to an MCP server's sign-in page, and signs out again. */
export const mcpSignInRoutes = (
  on: Gated,
  mcpServers: McpServers,
  parts: Pick<McpSignInParts, 'origins' | 'sessions'>,
  limit: PersonLimit,
) =>
  on
    .post(
      '/mcp-servers/:id/sign-in',
      async ({ principal, params, request, set }) => {
        await limit(principal)
        const { origins } = parts
        const site = { base: origins.base(request), hasDocument: hasDocument(origins) }
        const started = await mcpServers.signIn(principal, params.id, site)
        const { name, value } = started.cookie
        set.headers['set-cookie'] = flowCookie(parts, request, name, value, OAUTH_FLOW_SECONDS_MAX)
        return { url: started.url }
      },
      {
        allow: MANAGERS,
        parse: 'none',
        response: McpSignInResponse,
        detail: { summary: 'Begin to sign in at an MCP server' },
      },
    )
    .delete(
      '/mcp-servers/:id/sign-in',
      ({ principal, params }) => mcpServers.signOut(principal.tenantId, params.id),
      {
        allow: MANAGERS,
        response: McpServerDeleteResponse,
        detail: { summary: 'Sign out of an MCP server' },
      },
    )

/** Below /auth: where the sign-in page of an MCP server sends the browser back to. */
export function mcpCallbackRoutes(mcpServers: McpServers, parts: McpSignInParts) {
  const { sessions, addressLimit, auditCode } = parts
  const limit = addressLimit('mcp sign-in', LOGIN_STEPS_PER_MINUTE_MAX)

  /** Null for somebody who may not change servers, as for nobody. */
  async function editor(request: Request) {
    const principal = await sessions.find(request)
    return principal?.role === 'viewer' ? null : principal
  }

  return new Elysia({ name: 'mcp-sign-in' }).get(
    '/mcp/callback',
    async ({ request, server, set }) => {
      await limit({ request, server, set })
      const by = await editor(request)
      const callback = new URL(request.url)
      const cookies = (name: string) => cookieValues(request, name)
      const made = await mcpServers.signedIn(by, { callback, cookies })
      if (by && made.server) {
        const { tenantId, userId } = by
        const { id } = made.server
        const line = {
          tenantId,
          userId,
          keyId: null,
          target: id,
          method: 'GET',
          route: '/mcp/callback',
        }
        await auditCode(request, server, line)
      }
      const spent = cookieOf(callback.searchParams.get('state') ?? '')
      set.headers['set-cookie'] = flowCookie(parts, request, spent, '', 0)
      set.headers['referrer-policy'] = 'no-referrer'
      set.headers.location = made.server
        ? `/app/tools?signed_in=${made.server.id}`
        : `/app/tools?error=${made.error}`
      set.status = 302
      return ''
    },
    { detail: { summary: 'Come back from the sign-in of an MCP server', responses: REDIRECT_DOC } },
  )
}

/** Whether issuers can read the document below: they take no other address than one of https. */
const hasDocument = (origins: McpSignInParts['origins']) =>
  origins.published()?.startsWith('https:') ?? false

/** GET /oauth/mcp-client.json, which issuers read who name clients by its address. */
export const mcpClientRoutes = (origins: McpSignInParts['origins']) =>
  new Elysia({ name: 'mcp-client' }).get(
    '/oauth/mcp-client.json',
    ({ request }) => {
      if (!hasDocument(origins)) throw appError('not_found', { what: 'path' })
      return clientDocument(origins.base(request))
    },
    {
      response: McpClientDocument,
      detail: { summary: 'Who signs in at MCP servers, as their issuers read it' },
    },
  )
