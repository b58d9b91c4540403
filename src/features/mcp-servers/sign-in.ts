import type { Clock } from '../../core/clock.ts'
import { newId, randomToken, type Seal, sameSecret, sha256Hex } from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import {
  MCP_SIGN_INS_OPEN_MAX,
  MCP_SIGN_INS_PER_TENANT_MAX,
  OAUTH_FLOW_SECONDS_MAX,
} from '../../core/limits/machine.ts'
import type { Logger } from '../../core/log.ts'
import type { OpenCodes } from '../../storage/shared-state.ts'
import {
  type McpIssuer,
  type McpOAuth,
  type McpOAuthClient,
  McpOAuthFailure,
  type McpSignInAttempt,
} from '../../upstream/ports/mcp-oauth.ts'
import { secretFor } from './client-secret.ts'
import { type Credentials, expiryOf } from './credentials.ts'
import { grantOwner } from './endpoint.ts'
import { type Grant, readGrant } from './grant.ts'
import type { GrantStore } from './grant-store.ts'
import { unionOf } from './scopes.ts'
import type { StoredServer } from './store.ts'

export interface SignInOptions {
  readonly store: GrantStore
  readonly seal: Seal | null
  readonly oauth: McpOAuth
  readonly credentials: Pick<Credentials, 'end'>
  readonly openCodes: OpenCodes
  /** The address of a person. */
  readonly emailOf: (userId: string) => Promise<string>
  readonly clock: Clock
  readonly log: Logger
}

/** The person in whose browser this happens. */
export interface SignInBy {
  readonly tenantId: string
  readonly userId: string | null
}

/** A browser that comes back from the issuer. */
export interface SignInAnswer {
  /** The redirect URI with what the issuer added. */
  readonly callback: URL
  /** The values of the cookie of this name in the request. */
  readonly cookies: (name: string) => readonly string[]
}

/** Why a person is not signed in, as one word for the page. */
type Word = 'expired' | 'denied' | 'refused' | 'unavailable' | 'changed'

interface Flow extends McpSignInAttempt {
  readonly server: Pick<StoredServer, 'id' | 'tenantId' | 'url' | 'auth' | 'clientId'>
  readonly userId: string
  readonly browser: string
  readonly issuer: McpIssuer
  readonly client: McpOAuthClient
  readonly registeredFor: string | null
  /** Of the scopes, those that calls were refused for before. */
  readonly more: string | null
  /** Epoch milliseconds. */
  readonly expiresAt: number
}

const TOKEN_BYTES = 32
const FLOW_OWNER = 'mcp sign-in'

const callbackOf = (base: string) => `${base}/auth/mcp/callback`
const clientAddress = (base: string) => `${base}/oauth/mcp-client.json`

/** The client as its metadata document describes it. */
export const clientDocument = (base: string) => ({
  client_id: clientAddress(base),
  client_name: 'Moonbase',
  redirect_uris: [callbackOf(base)],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
})

/** Where this server is. */
export interface Site {
  readonly base: string
  /** Whether issuers can read the metadata document of the client. */
  readonly hasDocument: boolean
}

/** A cookie of its own for each way to an issuer: two windows do not end each other's. */
export const cookieOf = (state: string) => `mb_mcp_${sha256Hex(state).slice(0, 16)}`

/** What is stored of an earlier sign-in; null also for what does not open. */
async function grantBefore(
  { store, seal }: Pick<SignInOptions, 'store' | 'seal'>,
  server: StoredServer,
): Promise<Grant | null> {
  const stored = await store.of(server.id)
  return stored && seal?.open(stored.sealed, grantOwner(server))
    ? readGrant(server, stored, seal)
    : null
}

/** Finds out as which client to sign in: one that was given, has a document, or is registered. */
function createClients({ store, seal, oauth }: Pick<SignInOptions, 'store' | 'seal' | 'oauth'>) {
  async function clientOf(server: StoredServer, issuer: McpIssuer, { base, hasDocument }: Site) {
    const { tenantId, clientId } = server
    const given = { registeredFor: null }
    if (clientId !== null) {
      try {
        const secret = await secretFor({ store, seal }, server, issuer)
        return { ...given, client: { id: clientId, secret } }
      } catch (error) {
        if (!(error instanceof McpOAuthFailure)) throw error
        throw appError('mcp_issuer_changed')
      }
    }
    if (issuer.hasClientDocuments && hasDocument) {
      return { ...given, client: { id: clientAddress(base), secret: null } }
    }
    const redirect = callbackOf(base)
    const known = await registered(server, issuer, redirect)
    if (known) return known
    try {
      const client = await oauth.register(tenantId, issuer, redirect)
      return { client, registeredFor: redirect }
    } catch (error) {
      if (!(error instanceof McpOAuthFailure)) throw error
      throw appError('mcp_client_needed', { redirect })
    }
  }

  /** The client that was registered when somebody signed in before. */
  async function registered(server: StoredServer, issuer: McpIssuer, redirect: string) {
    const grant = await grantBefore({ store, seal }, server)
    if (grant === null) return null
    const isSame = grant.registeredFor === redirect && grant.issuer.issuer === issuer.issuer
    return isSame ? { client: grant.client, registeredFor: redirect } : null
  }

  return clientOf
}

/** Redeems the code of a flow, and stores the tokens. */
function createExchange({ store, seal, oauth, emailOf, clock, log }: SignInOptions) {
  return async function exchange(flow: Flow, callback: URL): Promise<Word | null> {
    const { server, issuer, client, registeredFor } = flow
    try {
      const tokens = await oauth.exchange(server.tenantId, issuer, client, flow, callback)
      const { access, refresh } = tokens
      const expiresAt = expiryOf(tokens, clock.now())
      const grant: Grant = {
        url: server.url,
        issuer,
        client,
        access,
        refresh,
        expiresAt,
        registeredFor,
        signIn: newId(),
        asked: flow.scopes,
        more: flow.more,
      }
      const sealed = seal?.seal(JSON.stringify(grant), grantOwner(server))
      if (!sealed) return 'unavailable'
      const signedInBy = await emailOf(flow.userId)
      const kept = { sealed, version: newId(), signedInBy, signedInAt: clock.iso() }
      return (await store.put(server, kept, newId())) ? null : 'changed'
    } catch (error) {
      if (!(error instanceof McpOAuthFailure)) throw error
      log.info('mcp sign-in failed', {
        tenant: server.tenantId,
        server: server.id,
        code: error.code,
      })
      return error.reason === 'none' ? 'refused' : error.reason
    }
  }
}

/** Signs a tenant in at the authorization server of one of its MCP servers. */
export function createSignIn(options: SignInOptions) {
  const { seal, oauth, credentials, openCodes, clock, log } = options
  const exchange = createExchange(options)
  const flows = openCodes('mcp sign-in', {
    ttlMs: OAUTH_FLOW_SECONDS_MAX * 1000,
    countMax: MCP_SIGN_INS_OPEN_MAX,
    perOwnerMax: MCP_SIGN_INS_PER_TENANT_MAX,
  })

  const clientOf = createClients(options)

  async function discover(server: StoredServer): Promise<McpIssuer> {
    try {
      return await oauth.discover(server.tenantId, server.url, true)
    } catch (error) {
      if (!(error instanceof McpOAuthFailure)) throw error
      log.info('mcp sign-in not found', {
        tenant: server.tenantId,
        server: server.id,
        code: error.code,
      })
      throw appError('mcp_no_oauth')
    }
  }

  /** The flow of a browser that comes back, once; null for any other. */
  async function take(by: SignInBy | null, { callback, cookies }: SignInAnswer) {
    const state = callback.searchParams.get('state') ?? ''
    const name = sha256Hex(state)
    const kept = await flows.read(name)
    const text = kept && seal?.open(Buffer.from(kept, 'base64'), FLOW_OWNER)
    const flow = text ? (JSON.parse(text) as Flow) : null
    if (!flow || flow.expiresAt <= clock.now()) return null
    if (by === null || by.userId !== flow.userId) return null
    if (by.tenantId !== flow.server.tenantId) return null
    const isOurs = cookies(cookieOf(state)).some((one) => sameSecret(sha256Hex(one), flow.browser))
    return isOurs && (await flows.take(name)) !== null ? flow : null
  }

  return {
    /** Where to send the browser, and the cookie that binds the way back to it. */
    async start(server: StoredServer, userId: string | null, site: Site) {
      if (server.auth !== 'oauth' || userId === null) {
        throw appError('field_invalid', { field: 'auth' })
      }
      const { id, tenantId, url, auth, clientId } = server
      const issuer = await discover(server)
      const { client, registeredFor } = await clientOf(server, issuer, site)
      const before = await grantBefore(options, server)
      const more = before?.url === url ? (before.more ?? null) : null
      const browser = randomToken(TOKEN_BYTES)
      const attempt: McpSignInAttempt = {
        state: randomToken(TOKEN_BYTES),
        verifier: randomToken(TOKEN_BYTES),
        redirectUri: callbackOf(site.base),
        scopes: unionOf(server.scopes ?? issuer.scopes, more),
      }
      const flow: Flow = {
        ...attempt,
        server: { id, tenantId, url, auth, clientId },
        userId,
        browser: sha256Hex(browser),
        issuer,
        client,
        registeredFor,
        more,
        expiresAt: clock.now() + OAUTH_FLOW_SECONDS_MAX * 1000,
      }
      const sealed = seal?.seal(JSON.stringify(flow), FLOW_OWNER)
      if (!sealed) throw appError('mcp_not_available')
      const kept = Buffer.from(sealed).toString('base64')
      await flows.put(sha256Hex(attempt.state), kept, tenantId)
      const place = oauth.authorizationUrl(tenantId, issuer, client, attempt)
      return { url: place, cookie: { name: cookieOf(attempt.state), value: browser } }
    },

    /** Resolves with the server that somebody is signed in at now, or with why nobody is. */
    async finish(by: SignInBy | null, answer: SignInAnswer) {
      const flow = await take(by, answer)
      if (!flow) return { server: null, error: 'expired' as Word }
      // The address that the code is redeemed with is the one that it was asked for with.
      const callback = new URL(flow.redirectUri)
      callback.search = answer.callback.search
      const error = await exchange(flow, callback)
      return error === null ? { server: flow.server, error } : { server: null, error }
    },

    async end(server: StoredServer): Promise<void> {
      if (server.auth !== 'oauth') throw appError('field_invalid', { field: 'auth' })
      await credentials.end(server)
    },
  }
}

export type SignIn = ReturnType<typeof createSignIn>
