import type { Clock } from '../../core/clock.ts'
import { MCP_PAGES_MAX, MCP_READ_BYTES_MAX } from '../../core/limits/contract.ts'
import type { UpstreamFetch } from '../../upstream/net/upstream-call.ts'
import {
  type McpClient,
  type McpEndpoint,
  McpFailure,
  type McpListing,
} from '../../upstream/ports/mcp.ts'
import { callInRounds, callWithRequests } from './eliciting.ts'
import { createIds, type ExchangeOptions, type ParseJson, resultOf } from './exchange.ts'
import { createLegacy } from './legacy.ts'
import { createModern, headerText, MODERN, type Request } from './modern.ts'
import { createTalks } from './talks.ts'

export interface McpClientOptions {
  /** The guarded `fetch` of a tenant. */
  readonly fetchFor: (tenantId: string) => UpstreamFetch
  readonly clock: Pick<Clock, 'after' | 'every' | 'sleep'>
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
  const inTalk = createTalks(about, clock)

  const nextId = createIds()

  const workAt = (endpoint: McpEndpoint, signal: AbortSignal): ExchangeOptions => ({
    fetch: fetchFor(endpoint.tenantId),
    nextId,
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

    async call(endpoint, protocol, asked, signal) {
      const { name, args, params, headers: given, elicit, conversation = null } = asked
      const headers =
        protocol === MODERN
          ? { ...given, ...repeated(params), 'mcp-name': headerText(name) }
          : given
      const request = { method: 'tools/call', params: { name, arguments: args }, headers } as const
      const work = workAt(endpoint, signal)
      if (!elicit) return ask(work, protocol, request)
      if (protocol === MODERN) return callInRounds(modern, work, request, elicit)
      return resultOf(
        await inTalk(work, conversation, (session) =>
          callWithRequests(work, session, request, elicit),
        ),
      )
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
