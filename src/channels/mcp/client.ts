import { leastRecentlyUsed } from '../../core/bounded-maps.ts'
import type { Clock } from '../../core/clock.ts'
import { sha256Hex } from '../../core/crypto.ts'
import { MCP_PAGES_MAX, MCP_READ_BYTES_MAX } from '../../core/limits/contract.ts'
import { MCP_SESSIONS_MAX } from '../../core/limits/machine.ts'
import type { UpstreamFetch } from '../../upstream/net/upstream-call.ts'
import {
  type McpClient,
  type McpEndpoint,
  McpFailure,
  type McpListing,
} from '../../upstream/ports/mcp.ts'
import {
  type ExchangeOptions,
  exchange,
  type ParseJson,
  type RpcAnswer,
  resultOf,
  speaksOldForm,
} from './exchange.ts'
import { type About, createModern, headerText, MODERN, type Request } from './modern.ts'

export interface McpClientOptions {
  /** The guarded `fetch` of a tenant. */
  readonly fetchFor: (tenantId: string) => UpstreamFetch
  readonly clock: Pick<Clock, 'after' | 'sleep'>
  readonly parse: ParseJson
  /** The version of this product. */
  readonly version: string
}

type Result = Readonly<Record<string, unknown>>

/**
 * MCP over Streamable HTTP, for revision 2026-07-28 and earlier ones. For why it is not the
 * official client see src/decisions/050-mcp-client.md.
 */
export function createMcpClient({ fetchFor, parse, clock, version }: McpClientOptions): McpClient {
  const about = { name: 'moonbase', version }
  const modern = createModern(about, clock)
  const legacy = createLegacy(about)

  const workAt = (endpoint: McpEndpoint, signal: AbortSignal): ExchangeOptions => ({
    fetch: fetchFor(endpoint.tenantId),
    parse,
    endpoint,
    budget: { bytes: MCP_READ_BYTES_MAX },
    clock,
    signal,
  })

  async function ask(work: ExchangeOptions, protocol: string, request: Request): Promise<Result> {
    const { ask } = protocol === MODERN ? modern : legacy
    return resultOf(await ask(work, request))
  }

  /** Agrees on a revision. A server that spoke an older one is asked in that first. */
  async function agree(work: ExchangeOptions, known: string | null): Promise<string> {
    if (known !== null && known !== MODERN) {
      try {
        return (await legacy.initialize(work)).protocol
      } catch (error) {
        if (!(error instanceof McpFailure && error.reason === 'malformed')) throw error
      }
    }
    return (await modern.isSpoken(work)) ? MODERN : (await legacy.initialize(work)).protocol
  }

  return {
    async list(endpoint, known, signal) {
      const work = workAt(endpoint, signal)
      const protocol = await agree(work, known)
      const page = (params: Result) =>
        ask(work, protocol, { method: 'tools/list', params, headers: {} })
      return listPages(protocol, page)
    },

    call(endpoint, protocol, { name, args, params, headers: given }, signal) {
      const headers =
        protocol === MODERN
          ? { ...given, ...repeated(params), 'mcp-name': headerText(name) }
          : given
      const request = { method: 'tools/call', params: { name, arguments: args }, headers } as const
      return ask(workAt(endpoint, signal), protocol, request)
    },
  }
}

const repeated = (params: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(params).map(([name, value]) => [`mcp-param-${name}`, headerText(value)]),
  )

/** All pages of a list. Throws `McpFailure` when there are too many. */
async function listPages(
  protocol: string,
  page: (params: Result) => Promise<Result>,
): Promise<McpListing> {
  const tools: unknown[] = []
  let cursor: unknown
  for (let pages = 0; pages < MCP_PAGES_MAX; pages++) {
    const result = await page(cursor === undefined ? {} : { cursor })
    if (!Array.isArray(result.tools)) throw new McpFailure('malformed', 'no list of tools')
    tools.push(...result.tools)
    const { nextCursor, ttlMs } = result
    if (typeof nextCursor !== 'string' || nextCursor === '') {
      return { protocol, tools, ttlMs: typeof ttlMs === 'number' ? ttlMs : null }
    }
    cursor = nextCursor
  }
  throw new McpFailure('too_large', 'too many pages')
}

/** The revisions with a handshake, newest first. */
const REVISIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']

/** Longer session ids are refused, because sessions of many servers are remembered. */
const SESSION_ID_CHARS_MAX = 1_000

/** The result of `initialize` at a server. */
interface Session {
  readonly protocol: string
  /** Null when the server has no sessions. */
  readonly id: string | null
}

/** Requests of the revisions before 2026-07-28. Sessions are remembered from call to call. */
function createLegacy(about: About) {
  const sessions = leastRecentlyUsed<Session>(MCP_SESSIONS_MAX, () => 1)
  const nameOf = (endpoint: McpEndpoint) => sha256Hex(JSON.stringify(endpoint))

  async function initialize(work: ExchangeOptions): Promise<Session> {
    const params = { protocolVersion: REVISIONS[0], capabilities: {}, clientInfo: about }
    const answer = await exchange(work, { id: 1, method: 'initialize', params }, {})
    if (answer.status >= 400 && (await speaksOldForm(work))) {
      throw new McpFailure('outdated', 'HTTP+SSE only')
    }
    const { protocolVersion } = resultOf(answer)
    const protocol = REVISIONS.find((one) => one === protocolVersion)
    if (!protocol) throw new McpFailure('malformed', 'no common revision')
    const session = { protocol, id: answer.sessionId }
    if ((session.id?.length ?? 0) > SESSION_ID_CHARS_MAX) {
      throw new McpFailure('malformed', 'session id too long')
    }
    await exchange(work, { method: 'notifications/initialized' }, headersOf(session))
    sessions.put(nameOf(work.endpoint), session)
    return session
  }

  return {
    initialize,

    /** Sends a request; when the server has forgotten the session, begins a new one, once. */
    async ask(work: ExchangeOptions, { method, params, headers }: Request): Promise<RpcAnswer> {
      const ask = (session: Session) =>
        exchange(work, { id: 2, method, params }, { ...headers, ...headersOf(session) })
      const known = sessions.get(nameOf(work.endpoint))
      const answer = await ask(known ?? (await initialize(work)))
      if (!known) return answer
      const isLost = answer.status === 404 || (answer.status === 400 && known.id !== null)
      return isLost ? ask(await initialize(work)) : answer
    },
  }
}

const headersOf = ({ protocol, id }: Session): Record<string, string> => ({
  'mcp-protocol-version': protocol,
  ...(id === null ? {} : { 'mcp-session-id': id }),
})
