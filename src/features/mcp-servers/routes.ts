import { MANAGERS } from '../../core/principal.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gated } from '../../http/gate.ts'
import type { JsonAnswers } from '../../http/json-answers.ts'
import { jsonDoc, queryDoc } from '../../http/openapi-parts.ts'
import type { PersonLimit } from '../../http/request-limits.ts'
import {
  McpApprovalRequest,
  McpCallRequest,
  McpCallResponse,
  McpDefinition,
  McpServer,
  McpServerDeleteResponse,
  McpServerRequest,
  McpServersResponse,
} from './model.ts'
import type { McpServers } from './service.ts'

const configuration = jsonBody(McpServerRequest)
const approval = jsonBody(McpApprovalRequest)
const trial = jsonBody(McpCallRequest)

/** MCP servers whose tools the tenant's assistants may use; the same on both surfaces. */
export const mcpServerRoutes = (on: Gated, servers: McpServers, answers: JsonAnswers) => {
  on.get(
    '/mcp-servers',
    (context) => answers.respond(context, () => servers.list(context.principal.tenantId)),
    {
      allow: MANAGERS,
      detail: { summary: 'List MCP servers', responses: jsonDoc(McpServersResponse) },
    },
  )
    .post(
      '/mcp-servers',
      async ({ principal, request, upload, set }) => {
        servers.checkAvailable()
        const input = await configuration.read(request, upload)
        const created = await servers.create(principal.tenantId, input)
        set.status = 201
        return created
      },
      {
        allow: MANAGERS,
        parse: 'none',
        response: { 201: McpServer },
        detail: {
          summary: 'Add an MCP server and ask for its tools',
          requestBody: configuration.doc,
        },
      },
    )
    .get(
      '/mcp-servers/:id',
      (context) => {
        const { principal, params } = context
        return answers.respond(context, () => servers.read(principal.tenantId, params.id))
      },
      {
        allow: MANAGERS,
        detail: { summary: 'Read an MCP server', responses: jsonDoc(McpServer) },
      },
    )
    .put(
      '/mcp-servers/:id',
      async (context) => {
        const { principal, params, request, upload } = context
        servers.checkAvailable()
        const input = await configuration.read(request, upload)
        const replaced = await servers.replace(principal.tenantId, params.id, input)
        return answers.respond(context, async () => replaced)
      },
      {
        allow: MANAGERS,
        parse: 'none',
        detail: {
          summary: 'Replace an MCP server',
          requestBody: configuration.doc,
          responses: jsonDoc(McpServer),
        },
      },
    )
    .delete(
      '/mcp-servers/:id',
      ({ principal, params }) => servers.remove(principal.tenantId, params.id),
      {
        allow: MANAGERS,
        response: McpServerDeleteResponse,
        detail: { summary: 'Delete an MCP server' },
      },
    )
  listingRoutes(on, servers, answers)
}

/** What is asked of a server, and what of it may be used. */
const listingRoutes = (on: Gated, servers: McpServers, answers: JsonAnswers) =>
  on
    .post(
      '/mcp-servers/:id/refresh',
      async (context) => {
        const { principal, params } = context
        const listing = await servers.refresh(principal.tenantId, params.id)
        return answers.respond(context, async () => listing)
      },
      {
        allow: MANAGERS,
        parse: 'none',
        detail: { summary: 'Ask an MCP server for its tools', responses: jsonDoc(McpServer) },
      },
    )
    .put(
      '/mcp-servers/:id/tools',
      async (context) => {
        const { principal, params, request, upload } = context
        servers.checkAvailable()
        const input = await approval.read(request, upload)
        const approved = await servers.approve(principal, params.id, input)
        return answers.respond(context, async () => approved)
      },
      {
        allow: MANAGERS,
        parse: 'none',
        detail: {
          summary: 'Approve tools of an MCP server',
          requestBody: approval.doc,
          responses: jsonDoc(McpServer),
        },
      },
    )

/** Routes of the console alone: shows a tool's definition, and calls it to try it. */
export const mcpToolRoutes = (on: Gated, servers: McpServers, limit: PersonLimit) =>
  on
    .get(
      '/mcp-servers/:id/definition',
      ({ principal, params, request }) => {
        const name = new URL(request.url).searchParams.get('tool') ?? ''
        return servers.definition(principal.tenantId, params.id, name)
      },
      {
        allow: MANAGERS,
        response: McpDefinition,
        detail: {
          summary: 'Read what a tool of an MCP server takes',
          parameters: queryDoc({ tool: 'Name of the tool' }),
        },
      },
    )
    .post(
      '/mcp-servers/:id/call',
      async ({ principal, params, request, upload, server }) => {
        await limit(principal)
        servers.checkAvailable()
        const input = await trial.read(request, upload)
        // The call has its own time limit, which the operator may raise.
        server?.timeout(request, 0)
        return servers.call(principal.tenantId, params.id, input, request.signal)
      },
      {
        allow: MANAGERS,
        parse: 'none',
        response: McpCallResponse,
        detail: { summary: 'Try a tool of an MCP server', requestBody: trial.doc },
      },
    )
