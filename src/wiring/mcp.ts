import { version } from '../../package.json'
import { createMcpClient } from '../channels/mcp/client.ts'
import { parseBeside } from '../channels/mcp/parse.ts'
import { createMcpOAuth } from '../channels/openid/mcp-oauth.ts'
import { createSeal } from '../core/crypto.ts'
import { createAsk } from '../doors/mcp/ask.ts'
import type { McpRouteOptions } from '../doors/mcp/routes.ts'
import { createMcpService } from '../doors/mcp/service.ts'
import type { Agent } from '../features/agent/service.ts'
import type { TurnConfigStore } from '../features/agent/store.ts'
import { createCall } from '../features/mcp-servers/call.ts'
import { createCredentials } from '../features/mcp-servers/credentials.ts'
import { createGrantStore } from '../features/mcp-servers/grant-store.ts'
import { createHashes, createOffer } from '../features/mcp-servers/offer.ts'
import { ownAddress } from '../features/mcp-servers/own-address.ts'
import { createRefresh } from '../features/mcp-servers/refresh.ts'
import { createMcpServers } from '../features/mcp-servers/service.ts'
import { createSignIn } from '../features/mcp-servers/sign-in.ts'
import { createMcpServerStore } from '../features/mcp-servers/store.ts'
import { createServerTelling } from '../features/mcp-servers/telling.ts'
import type { Tenants } from '../features/tenants/service.ts'
import type { Outbox } from '../features/webhooks/outbox.ts'
import { createMcp } from '../http/mcp.ts'
import type { RequestContexts } from '../http/observe.ts'
import type { Origins } from '../http/origin.ts'
import type { Sse } from '../http/sse.ts'
import type { Jobs } from '../jobs/runner.ts'
import { takesTokens } from '../upstream/egress/url-guard.ts'
import { createUpstreamFetch } from '../upstream/net/upstream-call.ts'
import type { Adapters } from './adapters.ts'
import type { Knowledge } from './knowledge.ts'

interface McpNeeds {
  readonly kb: Knowledge
  readonly agent: Agent
  readonly configs: TurnConfigStore
  readonly sse: Sse
  readonly contexts: RequestContexts
  readonly origins: Origins
}

/** Wires the MCP server that other programs call. */
export function openMcp({ clock, log }: Adapters, needs: McpNeeds): McpRouteOptions {
  const { kb, agent, configs, sse, contexts, origins } = needs
  const { service: documents, access } = kb
  const ask = createAsk(agent, clock)
  const service = createMcpService({ log, kb: documents, access, usesKb: configs.usesKb, ask })
  return { mcp: createMcp({ version, log }), service, sse, contexts, origins }
}

/** Wires the MCP servers whose tools the assistants of tenants call. */
export function openMcpServers(
  adapters: Adapters,
  jobs: Jobs,
  tenants: Pick<Tenants, 'emailOf'>,
  outbox: Outbox,
) {
  const { live, clock, log, db, shared, secrets, egress, jsonParser } = adapters
  const { leases } = shared
  const fetchFor = (tenantId: string) => createUpstreamFetch(egress.fetchFor(tenantId))
  const parse = parseBeside(jsonParser.parse)
  const client = createMcpClient({ fetchFor, parse, clock, version })
  const store = createMcpServerStore(db)
  const seal = secrets.encryption && createSeal(secrets.encryption)
  const allow = () => live.config().MB_ALLOW_PRIVATE_HOSTS
  const oauth = createMcpOAuth({ fetchFor, mayAsk: (url) => takesTokens(url, allow()), clock })
  const grants = createGrantStore(db)
  const telling = createServerTelling(outbox)
  const credentials = createCredentials({
    store: grants,
    seal,
    oauth,
    leases,
    clock,
    log,
    telling,
  })
  const signIn = createSignIn({
    store: grants,
    seal,
    oauth,
    credentials,
    openCodes: shared.openCodes,
    emailOf: tenants.emailOf,
    clock,
    log,
  })
  const refresh = createRefresh({
    store,
    credentials,
    client,
    leases,
    clock,
    log,
    telling,
    inBackground: jobs.run,
  })
  const callMs = live.config().MB_MCP_CALL_MS
  const isOwn = ownAddress(() => {
    const { MB_PUBLIC_URL: publicUrl, MB_PORT: port } = live.config()
    return { publicUrl, port }
  })
  const call = createCall({ credentials, client, clock, refresh, callMs })
  return {
    service: createMcpServers({ store, seal, allow, refresh, call, signIn, clock }),
    toolsOfServers: createOffer({ store, seal, call, clock, refresh, isOwn }),
    hashesOf: createHashes(store),
    retryDue: refresh.retryDue,
  }
}
