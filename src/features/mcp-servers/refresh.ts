import { type Clock, MINUTE_MS } from '../../core/clock.ts'
import {
  MCP_LIST_MS_MAX,
  MCP_LIST_TTL_MS,
  MCP_LIST_TTL_MS_MAX,
} from '../../core/limits/contract.ts'
import { MCP_LISTINGS_AT_ONCE_MAX, MCP_LISTINGS_PER_TENANT_MAX } from '../../core/limits/machine.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import { createSemaphore } from '../../core/semaphore.ts'
import type { Statement } from '../../storage/db.ts'
import type { Leases } from '../../storage/shared-state.ts'
import { type McpClient, McpFailure } from '../../upstream/ports/mcp.ts'
import type { Credentials } from './credentials.ts'
import { readListing } from './listing.ts'
import type { McpErrorClass } from './model.ts'
import type { McpServerStore, StoredServer } from './store.ts'
import type { ServerTelling } from './telling.ts'

/** A failed listing is tried again after these waits; the last one repeats. */
const RETRY_MS = [1, 5, 15].map((minutes) => minutes * MINUTE_MS)

export interface RefreshOptions {
  readonly store: Pick<McpServerStore, 'list' | 'tools' | 'listed' | 'failed' | 'due'>
  readonly credentials: Pick<Credentials, 'use'>
  readonly client: Pick<McpClient, 'list'>
  readonly leases: Pick<Leases, 'hold'>
  readonly clock: Clock
  readonly log: Logger
  readonly telling: Pick<ServerTelling, 'failed' | 'listed'>
  /** Starts work in the background. */
  readonly inBackground: (name: string, work: (signal: AbortSignal) => Promise<unknown>) => void
}

/** Lists the tools of servers and stores the result. */
export function createRefresh(options: RefreshOptions) {
  const { store, credentials, client, leases, clock, log, telling, inBackground } = options
  const listings = createSemaphore({
    slots: MCP_LISTINGS_AT_ONCE_MAX,
    perKey: MCP_LISTINGS_PER_TENANT_MAX,
  })
  /** Servers that are being listed in the background. */
  const asking = new Set<string>()

  /** Lists a server and stores the result. Resolves with null on success. */
  async function ask(server: StoredServer): Promise<McpErrorClass | null> {
    const startedAt = clock.steady()
    const took = () => ({
      latencyMs: Math.round(clock.steady() - startedAt),
      checkedAt: clock.iso(),
      retryAt: clock.now() + (RETRY_MS[Math.min(server.failures, RETRY_MS.length - 1)] ?? 0),
    })
    const tooLate = new AbortController()
    const late = new McpFailure('timeout', 'no answer in time')
    const cancel = clock.after(MCP_LIST_MS_MAX, () => tooLate.abort(late))
    try {
      const { protocol, tools, ttlMs } = await credentials.use(
        server,
        (endpoint) => client.list(endpoint, server.protocol, tooLate.signal),
        tooLate.signal,
      )
      const kept = await readListing(tools, clock.steady)
      const ttl = Math.max(MINUTE_MS, Math.min(ttlMs ?? MCP_LIST_TTL_MS, MCP_LIST_TTL_MS_MAX))
      const before = await store.tools(server.tenantId, 0, server.id)
      const listed = { protocol, freshUntil: clock.now() + ttl }
      await telling.listed(server, before, kept, (told) =>
        store.listed(server, kept, took(), listed, told),
      )
      return null
    } catch (error) {
      if (!(error instanceof McpFailure)) throw error
      const { tenantId, id } = server
      log.info('mcp server failed', {
        tenant: tenantId,
        server: id,
        reason: error.reason,
        cause: error.phrase,
      })
      const isFinal = error.reason === 'undecryptable' || error.reason === 'sign_in'
      const checked = isFinal ? { ...took(), retryAt: null } : took()
      const { reason } = error
      const storing = (told: readonly Statement[]) => store.failed(server, reason, checked, told)
      // Who refused the tokens has told of it.
      await (reason === 'sign_in' ? storing([]) : telling.failed(server, storing))
      return reason
    } finally {
      cancel()
    }
  }

  async function askSaved(tenantId: string, id: string): Promise<void> {
    const server = (await store.list(tenantId)).find((one) => one.id === id)
    if (server) await listings.run(tenantId, () => ask(server))
  }

  /** Lists a server in the background, unless that is under way; no turn waits for it. */
  function soon(tenantId: string, id: string): void {
    if (asking.has(id)) return
    asking.add(id)
    inBackground('list mcp tools', (signal) =>
      leases
        .hold(`mcp ${id}`, signal, () => askSaved(tenantId, id))
        .catch((error) => log.warn('mcp listing failed', errorFields(error)))
        .finally(() => asking.delete(id)),
    )
  }

  return {
    /** Lists a server now. Resolves with the reason of a failure, or null. */
    now: (server: StoredServer): Promise<McpErrorClass | null> =>
      listings.run(server.tenantId, () => ask(server)),
    soon,
    /** Lists the servers whose next attempt is due. */
    async retryDue(): Promise<void> {
      const due = await store.due(clock.now(), MCP_LISTINGS_AT_ONCE_MAX)
      for (const { tenantId, id } of due) soon(tenantId, id)
    },
  }
}

export type Refresh = ReturnType<typeof createRefresh>
