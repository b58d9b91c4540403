/**
 * An MCP server in place of a stranger's: its tools and its faults are scripted. Every secret and
 * every text that must not leak contains the word SECRET.
 */
import { createMcpHandler, Server } from '@modelcontextprotocol/server'

export interface ScriptedTool {
  readonly name: unknown
  readonly description?: string
  readonly inputSchema?: unknown
  readonly [more: string]: unknown
}

/** Answers instead of the protocol, or changes what it has answered. */
type Fault = (request: Request, message: Message | null) => Response | Promise<Response> | null

interface Message {
  readonly id?: number
  readonly method: string
  readonly params?: { readonly name?: string; readonly arguments?: Record<string, unknown> }
}

export interface ReceivedMcp {
  readonly method: string
  readonly rpc: Message | null
  readonly headers: Headers
}

export type McpStandIn = ReturnType<typeof startMcpServer>

export interface StandInOptions {
  /** `sessions`: only revisions before 2026-07-28, which begin with a session. */
  readonly era?: 'both' | 'modern' | 'sessions'
}

const TOOL: ScriptedTool = {
  name: 'echo',
  description: 'Says the text again.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
}

type Answer = (name: string, args: Record<string, unknown>) => object

const echo: Answer = (_, { text }) => ({ content: [{ type: 'text', text: String(text) }] })

/** `using server = startMcpServer()` */
export function startMcpServer({ era = 'both' }: StandInOptions = {}) {
  let tools: readonly ScriptedTool[] = [TOOL]
  let result = echo
  let fault: Fault = () => null
  const received: ReceivedMcp[] = []
  const sessions = new Set<string>()
  const waiting: { method: string; resolve: () => void }[] = []

  function serve() {
    const about = { name: 'stand-in', version: '1' }
    const server = new Server(about, { capabilities: { tools: {} }, instructions: 'SECRET orders' })
    // Unchecked by the SDK, so that a test can list malformed tools.
    server.setRequestHandler('tools/list', () => ({ tools: tools as never }))
    server.setRequestHandler('tools/call', ({ params }) => {
      return result(params.name, params.arguments ?? {}) as never
    })
    return server
  }
  const protocol = createMcpHandler(serve, { legacy: era === 'modern' ? 'reject' : 'stateless' })

  async function answer(request: Request): Promise<Response> {
    const body = await request.text()
    const rpc = parsed(body)
    received.push({ method: request.method, rpc, headers: request.headers })
    const asked = rpc?.method ?? request.method
    for (const one of waiting.filter(({ method }) => method === asked)) one.resolve()
    const broken = fault(request, rpc)
    if (broken) return broken
    if (era !== 'sessions') return ask(request, body)
    return withSession(request, rpc, () => ask(request, body))
  }

  const ask = ({ url, headers }: Request, body: string) =>
    protocol.fetch(new Request(url, { method: 'POST', headers, body }))

  /** Of the handshake's revisions, with a session that the server may forget. */
  async function withSession(request: Request, rpc: Message | null, ask: () => Promise<Response>) {
    if (rpc?.method === 'server/discover') return new Response('SECRET', { status: 400 })
    const id = request.headers.get('mcp-session-id')
    if (rpc?.method !== 'initialize') {
      return id && sessions.has(id) ? ask() : new Response('SECRET no session', { status: 404 })
    }
    const response = await ask()
    const session = `session-${crypto.randomUUID()}`
    sessions.add(session)
    const headers = { ...Object.fromEntries(response.headers), 'mcp-session-id': session }
    return new Response(response.body, { headers })
  }

  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, idleTimeout: 0, fetch: answer })
  return {
    url: `http://127.0.0.1:${server.port}/mcp`,
    received,
    /** The methods of the protocol that were asked for, in order. */
    methods: () => received.map(({ rpc, method }) => rpc?.method ?? method),
    lists(next: readonly ScriptedTool[]): void {
      tools = next
    },
    answers(next: Answer): void {
      result = next
    },
    fault: () => fault,
    fails(next: Fault): void {
      fault = next
    },
    forgetSessions: () => sessions.clear(),
    /** Resolves when a request with this method arrives from now on. */
    asked: (method: string) => new Promise<void>((resolve) => waiting.push({ method, resolve })),
    reset(): void {
      received.length = 0
      tools = [TOOL]
      result = echo
      fault = () => null
    },
    [Symbol.dispose]: () => void server.stop(true),
  }
}

function parsed(body: string): Message | null {
  try {
    return JSON.parse(body)
  } catch {
    return null
  }
}
