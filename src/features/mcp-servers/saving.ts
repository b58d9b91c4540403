import { type Clock, MINUTE_MS } from '../../core/clock.ts'
import { newId, type Seal } from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import { MCP_SERVERS_MAX } from '../../core/limits/contract.ts'
import { createSemaphore } from '../../core/semaphore.ts'
import { checkedUrl } from '../../upstream/egress/url-guard.ts'
import type { McpServerRequest } from './model.ts'
import { sealOwner } from './refresh.ts'
import type { McpServerStore, ReadTool, SavedServer, StoredServer } from './store.ts'

export interface SavingOptions {
  readonly store: McpServerStore
  readonly seal: () => Seal
  /** Private hosts that tenants may name. */
  readonly allow: () => readonly string[]
  readonly clock: Clock
  readonly find: (tenantId: string, id: string) => Promise<StoredServer>
}

/** Stores the configuration of servers. Edits of one tenant run one after another. */
export function createSaving({ store, seal, allow, clock, find }: SavingOptions) {
  const edits = createSemaphore({ perKey: 1 })

  function checkUrl(url: string): string {
    checkedUrl(url, allow())
    return url
  }

  const isTaken = async (tenantId: string, name: string) =>
    (await store.list(tenantId)).some((one) => one.name === name)

  async function insert(
    tenantId: string,
    request: McpServerRequest,
    retryAt: number | null,
  ): Promise<string> {
    const { name, header_name: headerName, header_value: value, enabled } = request
    const id = newId()
    const server = {
      id,
      tenantId,
      name,
      headerName,
      enabled,
      revision: newId(),
      createdAt: clock.iso(),
      url: checkUrl(request.url),
      headerSealed: value === null ? null : seal().seal(value, sealOwner({ tenantId, id })),
    }
    if (await store.insert(server, retryAt, MCP_SERVERS_MAX)) return id
    if (await isTaken(tenantId, name)) throw appError('mcp_name_taken')
    throw appError('quota_mcp_servers', { max: MCP_SERVERS_MAX })
  }

  /** Resolves with whether the earlier listing is no longer valid. */
  async function save(tenantId: string, id: string, request: McpServerRequest): Promise<boolean> {
    const before = await find(tenantId, id)
    const { name, header_name: headerName, header_value: value, enabled } = request
    const url = checkUrl(request.url)
    const isSame = url === before.url && headerName === before.headerName
    // A stored secret must not be sent to another address or under another header name.
    const kept = isSame ? before.headerSealed : null
    const headerSealed = value === null ? kept : seal().seal(value, sealOwner(before))
    const next: SavedServer = { name, url, headerName, headerSealed, enabled }
    const isOther = !isSame || value !== null
    const revision = isOther ? newId() : before.revision
    if (!(await store.replace(before, next, revision, clock.now() + MINUTE_MS))) {
      if (name !== before.name && (await isTaken(tenantId, name))) throw appError('mcp_name_taken')
      throw appError('not_found', { what: 'mcp_server' })
    }
    return isOther
  }

  return {
    /** Resolves with the id. `retryAt`: when the server is listed, unless it was listed before. */
    insert: (tenantId: string, request: McpServerRequest, retryAt: number | null) =>
      edits.run(tenantId, () => insert(tenantId, request, retryAt)),

    replace: (tenantId: string, id: string, request: McpServerRequest) =>
      edits.run(tenantId, () => save(tenantId, id, request)),

    /** False when there is no such server. */
    approve: (tenantId: string, id: string, read: readonly ReadTool[]) =>
      edits.run(tenantId, () => store.approve(tenantId, id, read, newId())),
  }
}
