import { type Clock, MINUTE_MS } from '../../core/clock.ts'
import type { Seal } from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import { checked } from '../../core/fields.ts'
import { MCP_DESCRIPTION_CHARS_MAX } from '../../core/limits/contract.ts'
import { LISTED_DESCRIPTION_CHARS } from '../../core/limits/machine.ts'
import { firstChars } from '../../core/text.ts'
import type { Call } from './call.ts'
import {
  ImportedMcpServer,
  type McpApprovalRequest,
  type McpErrorClass,
  type McpServer,
  type McpServerRequest,
} from './model.ts'
import type { Refresh } from './refresh.ts'
import { type Approver, createSaving, secretMissing } from './saving.ts'
import { shownServer } from './shown.ts'
import type { SignIn, SignInAnswer, SignInBy, Site } from './sign-in.ts'
import type { McpServerStore, StoredServer, StoredTool } from './store.ts'
import { createTrying } from './trying.ts'

export interface McpServersOptions {
  readonly store: McpServerStore
  /** Null when the operator switched encryption off; every call then answers 503. */
  readonly seal: Seal | null
  /** Private hosts that tenants may name. */
  readonly allow: () => readonly string[]
  readonly refresh: Refresh
  readonly call: Call
  readonly signIn: SignIn
  readonly clock: Clock
}

const FAILED = {
  unreachable: 'mcp_unreachable',
  timeout: 'mcp_timeout',
  refused: 'mcp_refused',
  malformed: 'mcp_malformed',
  outdated: 'mcp_outdated',
  too_large: 'mcp_too_large',
  guarded: 'mcp_guarded',
  undecryptable: 'mcp_undecryptable',
  sign_in: 'mcp_sign_in',
} as const satisfies Record<McpErrorClass, string>

const missing = () => appError('not_found', { what: 'mcp_server' })

/** A tenant's MCP servers. Every call answers 404 for a server that is not the tenant's. */
export function createMcpServers(options: McpServersOptions) {
  const { store, seal, allow, refresh, call, signIn, clock } = options
  function sealed(): Seal {
    if (!seal) throw appError('mcp_not_available')
    return seal
  }

  async function find(tenantId: string, id: string): Promise<StoredServer> {
    const server = (await store.list(tenantId)).find((one) => one.id === id)
    if (!server) throw missing()
    return server
  }

  const saving = createSaving({ store, seal: sealed, allow, clock, find })

  const { list, read } = createShowing(store, sealed, find)

  return {
    /** Throws `mcp_not_available` without encryption. */
    checkAvailable: (): void => void sealed(),

    list: async (tenantId: string) => ({ servers: await list(tenantId) }),
    read,

    /** Stores a server, even when it does not answer. */
    async create(tenantId: string, request: McpServerRequest): Promise<McpServer> {
      const { auth, client_secret } = request
      if (auth === 'client_credentials' && client_secret === null) throw secretMissing()
      const retryAt = clock.now() + MINUTE_MS
      const id = await saving.insert(tenantId, request, retryAt)
      await refresh.now(await find(tenantId, id))
      return read(tenantId, id)
    },

    /** Replaces a server. A new address or header lists it again, and no tool is approved then. */
    async replace(tenantId: string, id: string, request: McpServerRequest): Promise<McpServer> {
      const isOther = await saving.replace(tenantId, id, request)
      if (isOther) await refresh.now(await find(tenantId, id))
      return read(tenantId, id)
    },

    async remove(tenantId: string, id: string): Promise<{ id: string; deleted: true }> {
      sealed()
      if (!(await store.remove(tenantId, id))) throw missing()
      return { id, deleted: true }
    },

    /** Lists the server's tools again; throws `mcp_…` when that fails. */
    async refresh(tenantId: string, id: string): Promise<McpServer> {
      sealed()
      const failure = await refresh.now(await find(tenantId, id))
      if (failure !== null) throw appError(FAILED[failure])
      return read(tenantId, id)
    },

    /** Approves exactly these tools, as the person has read them. */
    async approve(
      by: Approver,
      id: string,
      { approved, hashes, ask }: McpApprovalRequest,
    ): Promise<McpServer> {
      const names = [...new Set(approved)]
      const tools = names.map((name) => ({ name, hash: hashes[name] ?? null }))
      if (!(await saving.approve(by, id, tools, ask))) throw missing()
      return read(by.tenantId, id)
    },

    async signIn(by: SignInBy, id: string, site: Site) {
      sealed()
      return signIn.start(await find(by.tenantId, id), by.userId, site)
    },

    /** Comes back from the issuer's page; a server that was signed in is listed at once. */
    async signedIn(by: SignInBy | null, request: SignInAnswer) {
      const made = await signIn.finish(by, request)
      if (made.server) await refresh.now(await find(made.server.tenantId, made.server.id))
      return made
    },

    /** Forgets the tokens, and has the issuer withdraw them. */
    async signOut(tenantId: string, id: string): Promise<{ id: string; deleted: true }> {
      sealed()
      await signIn.end(await find(tenantId, id))
      return { id, deleted: true }
    },

    ...createTrying({ store, sealed, call, clock, find }),
    ...transferred({ store, seal, saving, clock }),
  }
}

function createShowing(
  store: McpServerStore,
  sealed: () => Seal,
  find: (tenantId: string, id: string) => Promise<StoredServer>,
) {
  async function list(tenantId: string): Promise<McpServer[]> {
    const seal = sealed()
    const [servers, tools] = await Promise.all([
      store.list(tenantId),
      store.tools(tenantId, LISTED_DESCRIPTION_CHARS + 1),
    ])
    const byServer = Map.groupBy(tools.map(shortened), ({ serverId }) => serverId)
    return servers.map((server) => shownServer(server, byServer.get(server.id) ?? [], seal))
  }

  async function read(tenantId: string, id: string): Promise<McpServer> {
    const seal = sealed()
    const [server, tools] = await Promise.all([
      find(tenantId, id),
      store.tools(tenantId, MCP_DESCRIPTION_CHARS_MAX, id),
    ])
    return shownServer(server, tools, seal)
  }

  return { list, read }
}

/** A tool as the list of all servers has it: with the beginning of a long description. */
const shortened = (tool: StoredTool): StoredTool => ({
  ...tool,
  description: shortOf(tool.description),
  approvedDescription: tool.approvedDescription && shortOf(tool.approvedDescription),
})

const shortOf = (text: string) =>
  text.length > LISTED_DESCRIPTION_CHARS
    ? `${firstChars(text, LISTED_DESCRIPTION_CHARS - 1)}…`
    : text

export type McpServers = ReturnType<typeof createMcpServers>

type TransferParts = Pick<McpServersOptions, 'store' | 'seal' | 'clock'> & {
  readonly saving: ReturnType<typeof createSaving>
}

/** The part for export and import. */
function transferred({ store, seal, saving, clock }: TransferParts) {
  return {
    /** Validates a server of an imported configuration; throws `AppError` (400). */
    checkImported: (item: unknown): ImportedMcpServer => checked(ImportedMcpServer, item),

    /** Stores a server without listing it; one that needs no header is listed soon. */
    async add(tenantId: string, request: ImportedMcpServer): Promise<void> {
      const retryAt = request.header_name === null ? clock.now() : null
      await saving.insert(tenantId, request, retryAt)
    },

    /** Overwrites a server without listing it. */
    async overwrite(tenantId: string, id: string, request: ImportedMcpServer): Promise<void> {
      await saving.replace(tenantId, id, request)
    },

    /** Names and addresses for an export, which holds no secrets; empty without encryption. */
    async heads(tenantId: string) {
      const servers = seal ? await store.list(tenantId) : []
      return servers.map(({ id, name, url, headerName, enabled, auth, clientId, scopes }) => ({
        id,
        name,
        url,
        header_name: headerName,
        auth,
        client_id: clientId,
        scopes,
        enabled,
      }))
    },
  }
}
