import { leastRecentlyUsed } from '../../core/bounded-maps.ts'
import type { Clock } from '../../core/clock.ts'
import type { Seal } from '../../core/crypto.ts'
import { MCP_SCHEMAS_CHARS_MAX, MCP_TOOLS_OFFERED_MAX } from '../../core/limits/contract.ts'
import { MCP_DEPTH_MAX, MCP_OFFERS_UNITS_MAX } from '../../core/limits/machine.ts'
import type { Principal } from '../../core/principal.ts'
import type { Tool } from '../../tools/tool.ts'
import { callNames, type ToolsFor } from '../../tools/tool-box.ts'
import type { ToolSpec } from '../../upstream/ports/llm.ts'
import { withApproval } from './asking.ts'
import { asTool, type Call } from './call.ts'
import type { OfferedTool } from './offer-store.ts'
import type { Refresh } from './refresh.ts'
import { stateOf } from './shown.ts'
import type { McpServerStore, StoredServer, StoredTool } from './store.ts'

export interface OfferOptions {
  readonly store: Pick<
    McpServerStore,
    'stamp' | 'list' | 'tools' | 'offered' | 'isApproved' | 'called'
  >
  readonly seal: Seal | null
  readonly call: Call
  readonly clock: Clock
  readonly refresh: Pick<Refresh, 'soon'>
  /** Whether an address is this server's own, as the caller's requests reach it. */
  readonly isOwn: (url: URL, principal: Principal) => boolean
}

/** A tool that may be offered, under the name by which models call it. */
interface Candidate {
  readonly callName: string
  readonly server: StoredServer
  readonly tool: StoredTool
}

/** The tools for turns with the same choice, valid as long as the servers' stamp stays the same. */
interface Offer {
  readonly stamp: string
  readonly tools: readonly {
    readonly server: StoredServer
    readonly tool: OfferedTool
    readonly spec: ToolSpec
  }[]
}

/** The approved tools of a tenant, of servers whose last listing succeeded. */
async function candidatesOf(
  store: Pick<McpServerStore, 'list' | 'tools'>,
  tenantId: string,
): Promise<Candidate[]> {
  const [servers, tools] = await Promise.all([store.list(tenantId), store.tools(tenantId, 0)])
  const byServer = Map.groupBy(tools, ({ serverId }) => serverId)
  return servers.flatMap((server) => {
    if (!server.enabled || server.state !== 'ready') return []
    const listed = byServer.get(server.id) ?? []
    const names = callNames(
      server.name,
      listed.map(({ name }) => name),
    )
    return listed.flatMap((tool, i) =>
      stateOf(tool) === 'approved' ? [{ callName: names[i] ?? '', server, tool }] : [],
    )
  })
}

/** The hashes of approved tools by the names that models call them by. */
export const createHashes =
  (store: Pick<McpServerStore, 'list' | 'tools'>) =>
  async ({ tenantId }: Principal): Promise<ReadonlyMap<string, string>> =>
    new Map(
      (await candidatesOf(store, tenantId)).map(({ callName, tool }) => [callName, tool.hash]),
    )

/**
 * The tools of MCP servers that a turn offers: those that are chosen for it and approved, of
 * servers whose last listing succeeded. A turn without chosen tools costs nothing; no turn waits
 * for a server.
 */
export function createOffer(options: OfferOptions): ToolsFor {
  const { store, seal, call, clock, refresh, isOwn } = options
  const offers = leastRecentlyUsed<Offer>(MCP_OFFERS_UNITS_MAX, unitsOf)

  async function read(tenantId: string, wanted: readonly string[], stamp: string): Promise<Offer> {
    const chosen = choose(await candidatesOf(store, tenantId), wanted)
    const keyOf = (serverId: string, name: string) => `${serverId}/${name}`
    const byKey = new Map(chosen.map((one) => [keyOf(one.server.id, one.tool.name), one]))
    const kept = await store.offered(
      tenantId,
      chosen.map(({ tool }) => tool),
    )
    const tools = kept.flatMap((tool) => {
      const found = byKey.get(keyOf(tool.serverId, tool.name))
      const { description, schema: parameters } = tool
      return found
        ? [{ server: found.server, tool, spec: { name: found.callName, description, parameters } }]
        : []
    })
    return { stamp, tools }
  }

  /** Calls the tool, notes how that ended, and asks the person before where the tool asks. */
  function runOf({ server, tool, spec }: Offer['tools'][number], depth: number): Tool['run'] {
    const run = asTool(call, server, tool, depth)
    const noted: Tool['run'] = async (args, context) => {
      let ok = false
      try {
        const result = await run(args, context)
        ok = true
        return result
      } finally {
        await store.called(tool, clock.iso(), ok)
      }
    }
    if (!tool.ask) return noted
    const isStillApproved = () => store.isApproved(server.tenantId, tool)
    return withApproval(noted, server, tool, spec.name, isStillApproved)
  }

  async function offerFor(tenantId: string, wanted: readonly string[]): Promise<Offer> {
    const stamp = await store.stamp(tenantId)
    const name = `${tenantId} ${wanted.join(' ')}`
    const known = offers.get(name)
    if (known?.stamp === stamp) return known
    const offer = await read(tenantId, wanted, stamp)
    offers.put(name, offer)
    return offer
  }

  return async (principal, { mcpTools: wanted }) => {
    const depth = principal.nested?.depth ?? 0
    if (seal === null || depth > MCP_DEPTH_MAX || !wanted.some(isMcpName)) return []
    const { tools } = await offerFor(principal.tenantId, wanted)
    const now = clock.now()
    for (const { tenantId, id, freshUntil } of new Set(tools.map(({ server }) => server))) {
      if ((freshUntil ?? 0) <= now) refresh.soon(tenantId, id)
    }
    const offered =
      depth === 0 ? tools : tools.filter(({ server }) => !isOwn(new URL(server.url), principal))
    return offered.map((one) => ({ spec: one.spec, run: runOf(one, depth) }))
  }
}

/** Size of an offer in the cache; parsed, a character of a schema takes several bytes. */
const unitsOf = ({ tools }: Offer): number =>
  tools.reduce((sum, { spec }) => sum + JSON.stringify(spec).length, 1_000)

/** Names of servers hold no `__`, so every name of a tool of theirs has one. */
const isMcpName = (name: string): boolean => name.includes('__')

const ALL_OF_SERVER = /^(.+)__\*$/

/** The wanted candidates in the order of `wanted`, up to the limits of a turn. */
function choose(candidates: readonly Candidate[], wanted: readonly string[]): Candidate[] {
  const chosen = new Map<string, Candidate>()
  let chars = 0
  for (const name of wanted) {
    const server = ALL_OF_SERVER.exec(name)?.[1]
    const named = candidates.filter((one) =>
      server === undefined ? one.callName === name : one.server.name === server,
    )
    for (const one of named) {
      if (chosen.has(one.callName)) continue
      chars += one.tool.schemaChars
      if (chosen.size >= MCP_TOOLS_OFFERED_MAX || chars > MCP_SCHEMAS_CHARS_MAX) {
        return [...chosen.values()]
      }
      chosen.set(one.callName, one)
    }
  }
  return [...chosen.values()]
}
