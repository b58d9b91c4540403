import { z } from 'zod'
import { CLASSES } from '../../core/error-table.ts'
import { BODY_BYTES_MAX } from '../../core/limits/contract.ts'
import { EVERYONE, type Principal } from '../../core/principal.ts'
import { jsonBody, readJsonValue } from '../../http/body.ts'
import type { Gated } from '../../http/gate.ts'
import type { Mcp, McpTools } from '../../http/mcp.ts'
import type { RequestContexts } from '../../http/observe.ts'
import { answerDoc, EVENTS_CONTENT, jsonContent } from '../../http/openapi-parts.ts'
import type { Origins } from '../../http/origin.ts'
import { clientOf, type Sse, type StreamClient } from '../../http/sse.ts'
import type { McpService } from './service.ts'
import type { CallNote } from './tools.ts'

export interface McpRouteOptions {
  readonly mcp: Mcp
  readonly service: McpService
  readonly sse: Sse
  readonly contexts: RequestContexts
  readonly origins: Pick<Origins, 'base'>
}

/** POST /v1/mcp: the knowledge base and the agent as MCP tools. */
export const mcpRoutes = (on: Gated, options: McpRouteOptions) =>
  on.post(
    '/mcp',
    async ({ principal, request, upload, server, set }) => {
      const body = await readJsonValue(request, BODY_BYTES_MAX, upload)
      const tools = toolsOf(principal, request, options)
      const response = await options.mcp({ request, body, tools, streams: asksAgent(body) })
      if (response.body && isEventStream(response)) {
        const client = clientOf(principal, request, server)
        return respond(options.sse, response.body, idOf(body), set, client)
      }
      return answerOf(response, request, set, options.contexts)
    },
    {
      allow: EVERYONE,
      parse: 'none',
      detail: {
        summary: 'The knowledge base and the agent as tools, by the Model Context Protocol',
        description:
          'Revision 2026-07-28 and those before it over Streamable HTTP, without sessions. ' +
          'Protocol errors are JSON-RPC errors.',
        requestBody: jsonBody(RpcRequest).doc,
        responses: RESPONSES,
      },
    },
  )

const rpcId = z.union([z.string(), z.number(), z.null()])

const RpcRequest = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number()]).optional().describe('Absent in a notification'),
  method: z.string(),
  params: z.record(z.string(), z.unknown()).optional(),
})

const RpcError = z.object({
  jsonrpc: z.literal('2.0'),
  id: rpcId.optional(),
  error: z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() }),
})

const RpcAnswer = z.union([
  z.object({
    jsonrpc: z.literal('2.0'),
    id: rpcId,
    result: z.record(z.string(), z.unknown()),
  }),
  RpcError,
])

const RESPONSES = {
  ...answerDoc('A JSON-RPC answer, or an event stream that ends with it (always for ask_agent)', {
    ...jsonContent(RpcAnswer),
    ...EVENTS_CONTENT,
  }),
  202: { description: 'A notification was taken' },
  400: { description: 'A protocol error', content: jsonContent(RpcError) },
  404: { description: 'An unknown method', content: jsonContent(RpcError) },
}

/** The tools of the caller; what a call learns goes into the row of the request log. */
function toolsOf(
  principal: Principal,
  request: Request,
  { service, contexts, origins }: McpRouteOptions,
): McpTools {
  const site = origins.base(request)
  return {
    list: service.list(principal),
    async call({ name, args, signal, progress }) {
      let noted: CallNote = {}
      const done = Promise.withResolvers<CallNote>()
      contexts.noteLater(request, done.promise)
      try {
        return await service.call(name, args, {
          principal,
          signal,
          progress,
          note(more) {
            noted = { ...noted, ...more }
          },
          urlOf: ({ doc_id, seq }) => `${site}/app/kb/${encodeURIComponent(doc_id)}#${seq}`,
        })
      } finally {
        done.resolve(noted)
      }
    },
  }
}

interface RpcMessage {
  readonly id?: unknown
  readonly method?: unknown
  readonly params?: { readonly name?: unknown } | null
}

/** Calls of the agent take long, so their stream begins at once. */
function asksAgent(body: unknown): boolean {
  const { method, params } = (body ?? {}) as RpcMessage
  return method === 'tools/call' && params?.name === 'ask_agent'
}

function idOf(body: unknown): string | number | null {
  const { id } = (body ?? {}) as RpcMessage
  return typeof id === 'string' || typeof id === 'number' ? id : null
}

const isEventStream = ({ headers }: Response) =>
  headers.get('content-type')?.startsWith('text/event-stream') ?? false

/** Streams an answer; where there is no slot for it, the call that has begun is ended. */
function respond(
  sse: Sse,
  body: ReadableStream<Uint8Array>,
  id: string | number | null,
  set: Answering,
  client: StreamClient,
): Response {
  try {
    return sse.respond(passOn(body), format(id), set, client)
  } catch (error) {
    void body.cancel().catch(() => {})
    throw error
  }
}

/** The events are already written; only a server that stops adds one of its own. */
const format = (id: string | number | null) => ({
  frame: (text: string) => text,
  isLast: () => false,
  onStop: ({ message }: { readonly message: string }) => {
    const error = { jsonrpc: '2.0', id, error: { code: -32603, message } }
    return `event: message\ndata: ${JSON.stringify(error)}\n\n`
  },
})

/** Passes a stream on; a client that leaves ends it, and with it the call. */
const passOn =
  (body: ReadableStream<Uint8Array>) =>
  async (
    signal: AbortSignal,
    emit: (texts: readonly string[]) => Promise<void> | undefined,
  ): Promise<void> => {
    const reader = body.getReader()
    const leave = () => void reader.cancel().catch(() => {})
    signal.addEventListener('abort', leave, { once: true })
    if (signal.aborted) leave()
    const decoder = new TextDecoder()
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      await emit([decoder.decode(part.value, { stream: true })])
    }
  }

interface Answering {
  status?: number | string
  headers: Record<string, string | number>
}

/** A JSON answer with its status, which hooks read from `set`. */
async function answerOf(
  response: Response,
  request: Request,
  set: Answering,
  contexts: RequestContexts,
) {
  const { status } = response
  set.status = status
  if (status >= 400) {
    contexts.note(request, { errorClass: CLASSES[status as keyof typeof CLASSES] ?? 'bad_request' })
    set.headers['x-error-code'] = status === 404 ? 'not_found' : 'invalid_request'
  }
  const text = await response.text()
  if (text === '') return new Response(null, { status })
  set.headers['content-type'] = 'application/json'
  return text
}
