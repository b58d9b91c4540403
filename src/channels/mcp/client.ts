import type { Clock } from '../../core/clock.ts'
import { MCP_PAGES_MAX, MCP_READ_BYTES_MAX } from '../../core/limits/contract.ts'
import type { UpstreamFetch } from '../net/upstream-call.ts'
import { type McpClient, type McpEndpoint, McpFailure, type McpListing } from '../ports/mcp.ts'
import { type ExchangeOptions, type ParseJson, resultOf } from './exchange.ts'
import { createLegacy } from './legacy.ts'
import { createModern, headerText, MODERN, type Request } from './modern.ts'

export interface McpClientOptions {
  /** The guarded `fetch` of a tenant. */
  readonly fetchFor: (tenantId: string) => UpstreamFetch
  readonly clock: Pick<Clock, 'after'>
  readonly parse: ParseJson
  /** Of this product. */
  readonly version: string
}

type Result = Readonly<Record<string, unknown>>

/**
 * Streamable HTTP for revision 2026-07-28 and those before it. Why not by the official client:
 * src/decisions/050-mcp-client.md.
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
    signal,
  })

  async function ask(work: ExchangeOptions, protocol: string, request: Request): Promise<Result> {
    const { ask } = protocol === MODERN ? modern : legacy
    return resultOf(await ask(work, request))
  }

  /** One that spoke an older revision is asked in that, until it refuses. */
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

/** All pages of a list; beyond the limit the list is too large. */
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
