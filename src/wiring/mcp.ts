import { version } from '../../package.json'
import { createMcpClient } from '../channels/mcp/client.ts'
import type { ParseJson } from '../channels/mcp/exchange.ts'
import type { Config } from '../config.ts'
import { createSeal } from '../core/crypto.ts'
import { parseUntrustedJson } from '../core/json.ts'
import type { Principal } from '../core/principal.ts'
import { createAsk } from '../doors/mcp/ask.ts'
import type { McpRouteOptions } from '../doors/mcp/routes.ts'
import { createMcpService } from '../doors/mcp/service.ts'
import type { Agent } from '../features/agent/service.ts'
import type { TurnConfigStore } from '../features/agent/store.ts'
import type { Kb } from '../features/knowledge/service.ts'
import { createCall } from '../features/mcp-servers/call.ts'
import { createOffer } from '../features/mcp-servers/offer.ts'
import { createRefresh } from '../features/mcp-servers/refresh.ts'
import { createMcpServers } from '../features/mcp-servers/service.ts'
import { createMcpServerStore } from '../features/mcp-servers/store.ts'
import { createMcp } from '../http/mcp.ts'
import type { RequestContexts } from '../http/observe.ts'
import type { Origins } from '../http/origin.ts'
import type { Sse } from '../http/sse.ts'
import type { Jobs } from '../jobs/runner.ts'
import { createUpstreamFetch } from '../upstream/net/upstream-call.ts'
import type { Adapters } from './adapters.ts'

interface McpNeeds {
  readonly kb: Kb
  readonly agent: Agent
  readonly configs: TurnConfigStore
  readonly sse: Sse
  readonly contexts: RequestContexts
  readonly origins: Origins
}

/** Wires the MCP server that other programs call. */
export function openMcp({ clock, log }: Adapters, needs: McpNeeds): McpRouteOptions {
  const { kb, agent, configs, sse, contexts, origins } = needs
  const ask = createAsk(agent, clock)
  const service = createMcpService({ log, kb, usesKb: configs.usesKb, ask })
  return { mcp: createMcp({ version, log }), service, sse, contexts, origins }
}

/** Wires the MCP servers whose tools the assistants of tenants call. */
export function openMcpServers(adapters: Adapters, jobs: Jobs) {
  const { live, clock, log, db, shared, secrets, egress, jsonParser } = adapters
  const { leases } = shared
  const fetchFor = (tenantId: string) => createUpstreamFetch(egress.fetchFor(tenantId))
  const parse = parseBeside(jsonParser)
  const client = createMcpClient({ fetchFor, parse, clock, version })
  const store = createMcpServerStore(db)
  const seal = secrets.encryption && createSeal(secrets.encryption)
  const refresh = createRefresh({ store, seal, client, leases, clock, log, inBackground: jobs.run })
  const allow = () => live.config().MB_ALLOW_PRIVATE_HOSTS
  const callMs = live.config().MB_MCP_CALL_MS
  const isOwn = ownAddress(live.config)
  const call = createCall({ seal, client, clock, refresh, callMs })
  return {
    service: createMcpServers({ store, seal, allow, refresh, call, clock }),
    toolsOfServers: createOffer({ store, seal, call, clock, refresh, isOwn }),
    retryDue: refresh.retryDue,
  }
}

/** Longer texts would hold the event loop; hostile text of this size holds it 3 ms. */
const PARSED_HERE_CHARS_MAX = 256 * 1024

/** Parses long texts in a worker process. */
const parseBeside =
  ({ parse }: Adapters['jsonParser']): ParseJson =>
  async (tenantId, text) => {
    if (text.length > PARSED_HERE_CHARS_MAX) {
      return (await parse(tenantId, new TextEncoder().encode(text)))?.value
    }
    try {
      return parseUntrustedJson(text)
    } catch {
      return undefined
    }
  }

/** Whether an address leads back to this server: as it is published, as it was called, or here. */
const ownAddress =
  (config: () => Config) =>
  ({ host, hostname, port }: URL, { nested }: Principal): boolean => {
    const { MB_PUBLIC_URL, MB_PORT } = config()
    return (
      host === nested?.host ||
      (MB_PUBLIC_URL !== undefined && host === new URL(MB_PUBLIC_URL).host) ||
      (LOOPBACK.test(hostname) && port === String(MB_PORT))
    )
  }

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/
