import type { Clock } from '../../core/clock.ts'
import { newId, type Seal } from '../../core/crypto.ts'
import { MCP_REFRESH_AHEAD_MS, MCP_REFRESH_WAITS_MAX } from '../../core/limits/machine.ts'
import type { Logger } from '../../core/log.ts'
import type { Leases } from '../../storage/shared-state.ts'
import { type McpEndpoint, McpFailure } from '../../upstream/ports/mcp.ts'
import { type McpOAuth, McpOAuthFailure, type McpTokens } from '../../upstream/ports/mcp-oauth.ts'
import { secretFor } from './client-secret.ts'
import { endpointOf, grantOwner } from './endpoint.ts'
import { type Grant, isSpent, readGrant, spent } from './grant.ts'
import type { GrantStore, StoredGrant } from './grant-store.ts'
import { noteScopes } from './scopes.ts'
import type { StoredServer } from './store.ts'
import type { ServerTelling } from './telling.ts'

export interface CredentialsOptions {
  readonly store: GrantStore
  readonly seal: Seal | null
  readonly oauth: McpOAuth
  readonly leases: Pick<Leases, 'hold'>
  readonly clock: Clock
  readonly log: Logger
  readonly telling: Pick<ServerTelling, 'signInNeeded'>
}

/** How long a server waits before it looks whether another one has refreshed the tokens. */
const LOOK_AGAIN_MS = 250

export const expiryOf = ({ expiresInSeconds }: McpTokens, now: number) =>
  expiresInSeconds === null ? null : now + expiresInSeconds * 1000

const bearer = (endpoint: McpEndpoint, { access, signIn }: Grant): McpEndpoint => ({
  ...endpoint,
  headers: { ...endpoint.headers, authorization: `Bearer ${access}` },
  signedIn: signIn,
})

/** Sends requests to servers with what shows who asks, and keeps tokens fresh. */
export function createCredentials(options: CredentialsOptions) {
  const { store, seal, oauth, leases, clock, log, telling } = options
  const renew = createRenewal(options)

  /** The tokens to use now; `stale` is one that the server has not accepted. */
  async function grantOf(server: StoredServer, stale: string | null): Promise<Grant> {
    const stored = await store.of(server.id)
    const grant = stored && readGrant(server, stored, seal)
    if (grant && grant.url === server.url && grant.access !== stale && !isDue(grant)) return grant
    const isOurs = grant?.url === server.url && !isSpent(grant)
    if (server.auth === 'oauth' && !isOurs) throw signInNeeded()
    const failure = await renew(server, stored?.version ?? null)
    // A token that is still valid is used while the issuer has a fault.
    if (failure?.reason === 'unreachable' && grant && grant.access !== stale && isValid(grant)) {
      return grant
    }
    if (failure) throw failure
    const next = await store.of(server.id)
    const renewed = next && readGrant(server, next, seal)
    // The server has another address by now, or another request was refused.
    if (!renewed || renewed.url !== server.url || isSpent(renewed)) throw signInNeeded()
    return renewed
  }

  const isDue = ({ expiresAt, refresh }: Grant) =>
    expiresAt !== null && expiresAt - (refresh === null ? 0 : MCP_REFRESH_AHEAD_MS) <= clock.now()
  const isValid = ({ expiresAt }: Grant) => expiresAt === null || expiresAt > clock.now()

  /** The tokens that were fresh are not accepted: nothing but a new sign-in helps. */
  async function giveUp(server: StoredServer, access: string): Promise<void> {
    const stored = await store.of(server.id)
    if (!stored || readGrant(server, stored, seal).access !== access) return
    await signOut(options, server, stored)
  }

  /** Whether the tokens are not good for this call, and would be after another sign-in. */
  async function needsMore(server: StoredServer, access: string, error: unknown) {
    const scopes = error instanceof McpFailure ? error.scopes : null
    if (scopes === null || server.auth !== 'oauth' || !seal) return false
    const found = await noteScopes({ store, seal, leases, telling }, server, access, scopes)
    if (found === 'noted') logRefused(log, server)
    return found !== 'useless'
  }

  async function withToken<Result>(
    server: StoredServer,
    work: (endpoint: McpEndpoint) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    const endpoint = endpointOf(server, seal)
    const attempt = async (grant: Grant): Promise<Result> => {
      signal.throwIfAborted()
      try {
        return await work(bearer(endpoint, grant))
      } catch (error) {
        throw (await needsMore(server, grant.access, error)) ? signInNeeded() : error
      }
    }
    const first = await grantOf(server, null)
    try {
      return await attempt(first)
    } catch (error) {
      if (!isUnauthorized(error)) throw error
    }
    const next = await grantOf(server, first.access)
    try {
      return await attempt(next)
    } catch (error) {
      if (!isUnauthorized(error) || server.auth !== 'oauth') throw error
      await giveUp(server, next.access)
      throw signInNeeded()
    }
  }

  return {
    /**
     * Runs requests to a server; with a token that is not accepted once more, after a refresh.
     * Throws as `work` does, and `McpFailure`.
     */
    use: async <Result>(
      server: StoredServer,
      work: (endpoint: McpEndpoint) => Promise<Result>,
      signal: AbortSignal,
    ): Promise<Result> =>
      server.auth === 'none' || server.auth === 'header'
        ? work(endpointOf(server, seal))
        : withToken(server, work, signal),

    /** Forgets the tokens of a server, and has its issuer withdraw them. */
    async end(server: StoredServer): Promise<void> {
      const stored = await store.of(server.id)
      await store.forget(server.id, newId())
      if (!stored) return
      try {
        const grant = readGrant(server, stored, seal)
        const { issuer, client, access, refresh } = grant
        if (!isSpent(grant)) {
          await oauth.revoke(server.tenantId, issuer, client, { access, refresh })
        }
      } catch (error) {
        const code = error instanceof McpOAuthFailure ? error.code : 'unknown'
        log.info('mcp tokens not withdrawn', { tenant: server.tenantId, server: server.id, code })
      }
    },
  }
}

export type Credentials = ReturnType<typeof createCredentials>

const isUnauthorized = (error: unknown) => error instanceof McpFailure && error.unauthorized

const signInNeeded = () => new McpFailure('sign_in', 'nobody is signed in')

const logRefused = (log: Logger, { tenantId, id }: StoredServer): void =>
  log.warn('mcp sign-in needed', { tenant: tenantId, server: id })

function sealed(server: StoredServer, grant: Grant, seal: Seal | null): StoredGrant {
  if (!seal) throw new McpFailure('undecryptable', 'no key')
  return { sealed: seal.seal(JSON.stringify(grant), grantOwner(server)), version: newId() }
}

/** The issuer or the server refuses the tokens: a person has to sign in again. */
async function signOut(
  options: Pick<CredentialsOptions, 'store' | 'seal' | 'log' | 'telling'>,
  server: StoredServer,
  stored: StoredGrant,
): Promise<void> {
  const { store, seal, log, telling } = options
  const left = sealed(server, spent(readGrant(server, stored, seal)), seal)
  const isStored = await telling.signInNeeded(server, (told) =>
    store.refused(server.id, stored.version, left, newId(), told),
  )
  if (isStored) logRefused(log, server)
}

/**
 * Gets new tokens in place of those of `version`. One server at a time does so, since issuers take
 * a refresh token once; the others wait for what it stores. Resolves with why there are none.
 */
function createRenewal(options: CredentialsOptions) {
  const { store, seal, oauth, leases, clock, log } = options
  const renewing = new Map<string, Promise<McpFailure | null>>()

  async function ask(server: StoredServer, stored: StoredGrant | null) {
    const before = stored && readGrant(server, stored, seal)
    if (server.auth === 'client_credentials') return own(server, before)
    if (!before || !stored || before.refresh === null) {
      throw new McpOAuthFailure('refused', 'no_refresh_token')
    }
    const { issuer, client, refresh } = before
    const tokens = await oauth.refresh(server.tenantId, issuer, client, refresh)
    const next = {
      ...before,
      access: tokens.access,
      refresh: tokens.refresh ?? refresh,
      expiresAt: expiryOf(tokens, clock.now()),
    }
    await store.refreshed(server.id, stored.version, sealed(server, next, seal))
  }

  /** Asks with the server's own credentials, without a person. */
  async function own(server: StoredServer, before: Grant | null): Promise<void> {
    const { tenantId, url, clientId } = server
    const issuer = before?.url === url ? before.issuer : await oauth.discover(tenantId, url, false)
    const secret = await secretFor({ store, seal }, server, issuer)
    if (clientId === null || secret === null) throw new McpOAuthFailure('refused', 'no_secret')
    const client = { id: clientId, secret }
    const scopes = server.scopes ?? issuer.scopes
    const tokens = await oauth.clientCredentials(tenantId, issuer, client, scopes)
    const expiresAt = expiryOf(tokens, clock.now())
    const { access } = tokens
    const signIn = `client ${clientId}`
    const given = { url, issuer, client, signIn, registeredFor: null }
    const next = { ...given, access, refresh: null, expiresAt }
    const kept = { ...sealed(server, next, seal), signedInBy: null, signedInAt: clock.iso() }
    if (!(await store.put(server, kept, newId()))) throw new McpOAuthFailure('refused', 'changed')
  }

  async function attempt(server: StoredServer, version: string | null) {
    const stored = await store.of(server.id)
    if ((stored?.version ?? null) !== version) return null
    try {
      await ask(server, stored)
      return null
    } catch (error) {
      if (error instanceof McpFailure) return error
      if (!(error instanceof McpOAuthFailure)) throw error
      const { tenantId, id, auth } = server
      log.info('mcp token not renewed', { tenant: tenantId, server: id, code: error.code })
      if (error.reason === 'unavailable') return new McpFailure('unreachable', error.code)
      if (auth !== 'oauth') return new McpFailure('refused', error.code)
      if (stored) await signOut(options, server, stored)
      return signInNeeded()
    }
  }

  async function renew(server: StoredServer, version: string | null): Promise<McpFailure | null> {
    for (let waits = 0; waits < MCP_REFRESH_WAITS_MAX; waits++) {
      let failure: McpFailure | null = null
      // A refresh outlives the request that began it: its tokens are the next one's.
      const held = await leases.hold(`mcp token ${server.id}`, NEVER, async () => {
        failure = await attempt(server, version)
      })
      if (held) return failure
      await clock.sleep(LOOK_AGAIN_MS)
      if (((await store.of(server.id))?.version ?? null) !== version) return null
    }
    return new McpFailure('unreachable', 'token is being renewed')
  }

  return (server: StoredServer, version: string | null): Promise<McpFailure | null> => {
    const name = `${server.id} ${version}`
    const known = renewing.get(name)
    if (known) return known
    const work = renew(server, version).finally(() => renewing.delete(name))
    renewing.set(name, work)
    return work
  }
}

const NEVER = new AbortController().signal
