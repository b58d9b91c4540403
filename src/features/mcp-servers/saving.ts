import { type Clock, MINUTE_MS } from '../../core/clock.ts'
import { newId, type Seal } from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import { MCP_SERVERS_MAX } from '../../core/limits/contract.ts'
import type { Principal } from '../../core/principal.ts'
import { createSemaphore } from '../../core/semaphore.ts'
import { checkedUrl } from '../../upstream/egress/url-guard.ts'
import { sealOwner, secretOwner } from './endpoint.ts'
import type { McpServerRequest } from './model.ts'
import type { McpServerStore, ReadTool, SavedServer, StoredServer } from './store.ts'

export const secretMissing = () => appError('field_missing', { field: 'client_secret' })
export type Approver = Pick<Principal, 'tenantId' | 'userId' | 'keyId'>

export interface SavingOptions {
  readonly store: McpServerStore
  readonly seal: () => Seal
  /** Private hosts that tenants may name. */
  readonly allow: () => readonly string[]
  readonly clock: Clock
  readonly find: (tenantId: string, id: string) => Promise<StoredServer>
}

/** The address, once it is known that it may be asked. */
function allowedUrl(url: string, allow: SavingOptions['allow']): string {
  checkedUrl(url, allow())
  return url
}

/** Stores the configuration of servers. Edits of one tenant run one after another. */
export function createSaving({ store, seal, allow, clock, find }: SavingOptions) {
  const edits = createSemaphore({ perKey: 1 })

  const isTaken = async (tenantId: string, name: string) =>
    (await store.list(tenantId)).some((one) => one.name === name)

  async function insert(
    tenantId: string,
    request: McpServerRequest,
    retryAt: number | null,
  ): Promise<string> {
    const { name, header_name: headerName, header_value: value, enabled } = request
    const { auth, client_id: clientId, client_secret: secret, scopes } = request
    const id = newId()
    const server = {
      id,
      tenantId,
      name,
      headerName,
      auth,
      clientId,
      secretSealed: secret === null ? null : seal().seal(secret, secretOwner({ tenantId, id })),
      scopes,
      enabled,
      revision: newId(),
      createdAt: clock.iso(),
      url: allowedUrl(request.url, allow),
      headerSealed: value === null ? null : seal().seal(value, sealOwner({ tenantId, id })),
    }
    if (await store.insert(server, retryAt, MCP_SERVERS_MAX)) return id
    if (await isTaken(tenantId, name)) throw appError('mcp_name_taken')
    throw appError('quota_mcp_servers', { max: MCP_SERVERS_MAX })
  }

  /** A secret is sent to the issuer of the very server that it was given for. */
  function secretOf(before: StoredServer, request: McpServerRequest, isSame: boolean) {
    const { auth, client_secret: secret } = request
    if (secret !== null) return seal().seal(secret, secretOwner(before))
    const kept = isSame ? before.secretSealed : null
    if (auth === 'client_credentials' && kept === null) throw secretMissing()
    return kept
  }

  /** Resolves with whether the earlier listing is no longer valid. */
  async function save(tenantId: string, id: string, request: McpServerRequest): Promise<boolean> {
    const before = await find(tenantId, id)
    const { name, header_name: headerName, header_value: value, enabled } = request
    const url = allowedUrl(request.url, allow)
    const isSame = url === before.url && headerName === before.headerName
    // A stored secret must not be sent to another address or under another header name.
    const kept = isSame ? before.headerSealed : null
    const headerSealed = value === null ? kept : seal().seal(value, sealOwner(before))
    const { auth, client_id: clientId, scopes } = request
    const isSameClient = url === before.url && auth === before.auth && clientId === before.clientId
    const secretSealed = secretOf(before, request, isSameClient)
    const next: SavedServer = {
      name,
      url,
      headerName,
      headerSealed,
      auth,
      clientId,
      secretSealed,
      scopes,
      enabled,
    }
    const isOtherGrant =
      auth === 'client_credentials' && (request.client_secret !== null || scopes !== before.scopes)
    const forgets = !isSameClient || isOtherGrant
    const isOther = !isSame || value !== null || forgets
    const revision = isOther ? newId() : before.revision
    if (!(await store.replace(before, next, revision, clock.now() + MINUTE_MS, forgets))) {
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
    approve: (
      { tenantId, userId, keyId }: Approver,
      id: string,
      read: readonly ReadTool[],
      ask: readonly string[] | undefined,
    ) => {
      const approval = { revision: newId(), at: clock.iso(), userId, keyId, ask }
      return edits.run(tenantId, () => store.approve(tenantId, id, read, approval))
    },
  }
}
