import * as client from 'openid-client'
import { z } from 'zod'
import type { Clock } from '../../core/clock.ts'
import { sha256Base64Url } from '../../core/crypto.ts'
import { MCP_CLIENT_ID_CHARS_MAX, MCP_CLIENT_SECRET_CHARS_MAX } from '../../core/limits/contract.ts'
import { OAUTH_TOKEN_CHARS_MAX } from '../../core/limits/upstream.ts'
import type { UpstreamFetch } from '../../upstream/net/upstream-call.ts'
import {
  type McpIssuer,
  type McpOAuth,
  type McpOAuthClient,
  McpOAuthFailure,
  type McpTokens,
} from '../../upstream/ports/mcp-oauth.ts'
import { fetchWith, PROVIDER_SECONDS_MAX } from './client.ts'
import { discover } from './mcp-discovery.ts'

export interface McpOAuthOptions {
  /** The guarded `fetch` of a tenant. */
  readonly fetchFor: (tenantId: string) => UpstreamFetch
  /** Whether an address may be asked: https, or http at a private host that is allowed. */
  readonly mayAsk: (url: string) => boolean
  readonly clock: Pick<Clock, 'after'>
}

const CLIENT_METADATA = {
  client_name: 'Moonbase',
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
} as const

const Registered = z.object({
  client_id: z.string().min(1).max(MCP_CLIENT_ID_CHARS_MAX),
  client_secret: z.string().max(MCP_CLIENT_SECRET_CHARS_MAX).nullish(),
})

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'moonbase', version: '1' },
  },
}

const LIST = { jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} }

const probe = (message: object) => ({
  method: 'POST',
  headers: {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  },
  body: JSON.stringify(message),
})

/** Requests that the library does not make. */
function createAsking({ fetchFor, mayAsk, clock }: McpOAuthOptions) {
  /** Asks within the time limit; null when nothing answers or the address is not allowed. */
  async function ask<Result>(
    tenantId: string,
    url: string,
    init: RequestInit,
    use: (response: Response) => Promise<Result>,
  ): Promise<Result | null> {
    if (!mayAsk(url)) return null
    const late = new AbortController()
    const cancel = clock.after(PROVIDER_SECONDS_MAX * 1000, () => late.abort())
    try {
      return await use(await fetchFor(tenantId)(url, { ...init, signal: late.signal }))
    } catch {
      return null
    } finally {
      cancel()
    }
  }

  const json = (tenantId: string, url: string, status: number, init: RequestInit) =>
    ask(tenantId, url, init, async (response) => {
      const bounded = await fetchWith(asIs(response))(url, NOTHING)
      return bounded.status === status ? ((await bounded.json()) as unknown) : null
    })

  /** Servers that greet everybody want a token for what comes next. */
  const challenge = (tenantId: string) => async (url: string) => {
    for (const message of [INITIALIZE, LIST]) {
      const said = await ask(tenantId, url, probe(message), async (response) => {
        await response.body?.cancel()
        return response.status === 401 ? response.headers.get('www-authenticate') : null
      })
      if (said !== null) return said
    }
    return null
  }

  return { json, challenge }
}

/** Requests of the library to a token endpoint. */
function createTokens({ fetchFor, mayAsk }: McpOAuthOptions) {
  /** Runs a request of the library; its status tells a refusal from a fault. */
  return async function tokens<Result>(
    tenantId: string,
    issuer: McpIssuer,
    { id, secret }: McpOAuthClient,
    work: (config: client.Configuration) => Promise<Result>,
  ): Promise<Result> {
    let status: number | 'asked' | null = null
    const config = new client.Configuration(serverOf(issuer), id, {}, proof(issuer, secret))
    config.timeout = PROVIDER_SECONDS_MAX
    client.allowInsecureRequests(config)
    config[client.customFetch] = async (url, init) => {
      status = 'asked'
      if (!mayAsk(url)) throw new McpOAuthFailure('refused', 'address')
      const response = await fetchWith(fetchFor(tenantId))(url, init)
      status = response.status
      return response
    }
    try {
      return await work(config)
    } catch (error) {
      throw explained(error, status)
    }
  }
}

/** OAuth for MCP servers by `openid-client`, which keeps to OAuth 2.1 and RFC 9207. */
export function createMcpOAuth(options: McpOAuthOptions): McpOAuth {
  const { mayAsk } = options
  const { json, challenge } = createAsking(options)
  const tokens = createTokens(options)
  return {
    discover: (tenantId, url, withBrowser) =>
      discover(
        {
          read: (place) => json(tenantId, place, 200, { headers: { accept: 'application/json' } }),
          challenge: challenge(tenantId),
          mayAsk,
        },
        url,
        withBrowser,
      ),

    async register(tenantId, issuer, redirectUri) {
      const loopback = isLoopback(new URL(redirectUri).hostname)
      const body = JSON.stringify({
        ...CLIENT_METADATA,
        redirect_uris: [redirectUri],
        application_type: loopback ? 'native' : 'web',
        token_endpoint_auth_method: methodOf(issuer),
      })
      const headers = { 'content-type': 'application/json', accept: 'application/json' }
      const init = { method: 'POST', headers, body }
      const answer = issuer.registration && (await json(tenantId, issuer.registration, 201, init))
      const made = Registered.safeParse(answer).data
      if (!made) throw new McpOAuthFailure('refused', 'registration')
      return { id: made.client_id, secret: made.client_secret ?? null }
    },

    authorizationUrl(_, issuer, { id }, { state, verifier, redirectUri, scopes }) {
      const config = new client.Configuration(serverOf(issuer), id, {}, client.None())
      client.allowInsecureRequests(config)
      const wantsRefresh = scopes?.split(' ').includes('offline_access')
      return client.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        response_type: 'code',
        state,
        code_challenge: sha256Base64Url(verifier),
        code_challenge_method: 'S256',
        resource: issuer.resource,
        ...(scopes === null ? {} : { scope: scopes }),
        // Without the question OpenID grants no offline access.
        ...(wantsRefresh ? { prompt: 'consent' } : {}),
      }).href
    },

    exchange: (tenantId, issuer, who, { state, verifier }, callback) =>
      tokens(tenantId, issuer, who, async (config) =>
        tokensOf(
          await client.authorizationCodeGrant(
            config,
            callback,
            { expectedState: state, pkceCodeVerifier: verifier },
            { resource: issuer.resource },
          ),
        ),
      ),

    refresh: (tenantId, issuer, who, token) =>
      tokens(tenantId, issuer, who, async (config) =>
        tokensOf(await client.refreshTokenGrant(config, token, { resource: issuer.resource })),
      ),

    clientCredentials: (tenantId, issuer, who, scopes) =>
      tokens(tenantId, issuer, who, async (config) => {
        const scope = scopes === null ? {} : { scope: scopes }
        const { resource } = issuer
        return tokensOf(await client.clientCredentialsGrant(config, { resource, ...scope }))
      }),

    async revoke(tenantId, issuer, who, { access, refresh }) {
      if (issuer.revocation === null) return
      await tokens(tenantId, issuer, who, (config) =>
        refresh === null
          ? client.tokenRevocation(config, access, { token_type_hint: 'access_token' })
          : client.tokenRevocation(config, refresh, { token_type_hint: 'refresh_token' }),
      )
    },
  }
}

const NOTHING = { headers: {}, method: 'GET', body: undefined, redirect: 'manual' } as const

const asIs = (response: Response): UpstreamFetch =>
  Object.assign(async () => response, { unpacks: false } as const)

const isLoopback = (host: string) => /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(host)

function methodOf({ methods }: McpIssuer): string {
  if (methods === null || methods.includes('none')) return 'none'
  return methods.includes('client_secret_basic') ? 'client_secret_basic' : 'client_secret_post'
}

function proof({ methods }: McpIssuer, secret: string | null): client.ClientAuth {
  if (secret === null) return client.None()
  const isBasic = methods === null || methods.includes('client_secret_basic')
  return isBasic ? basicOf(secret) : client.ClientSecretPost(secret)
}

/**
 * `client_secret_basic` (RFC 6749, section 2.3.1), in the shortest form that it allows: issuers
 * that decode nothing understand ids and secrets of letters, digits and `-._`, too.
 */
const basicOf =
  (secret: string): client.ClientAuth =>
  (_, { client_id: id }, __, headers) => {
    const pair = `${formEncoded(id)}:${formEncoded(secret)}`
    headers.set('authorization', `Basic ${Buffer.from(pair).toString('base64')}`)
  }

const formEncoded = (text: string) => new URLSearchParams({ '': text }).toString().slice(1)

const serverOf = (issuer: McpIssuer): client.ServerMetadata => ({
  issuer: issuer.issuer,
  token_endpoint: issuer.token,
  authorization_response_iss_parameter_supported: issuer.promisesIss,
  ...(issuer.authorization === null ? {} : { authorization_endpoint: issuer.authorization }),
  ...(issuer.revocation === null ? {} : { revocation_endpoint: issuer.revocation }),
  ...(issuer.idTokenAlgorithms === null
    ? {}
    : { id_token_signing_alg_values_supported: [...issuer.idTokenAlgorithms] }),
})

const tokensOf = (answer: client.TokenEndpointResponse): McpTokens => {
  const isLong = [answer.access_token, answer.refresh_token ?? ''].some(
    (token) => token.length > OAUTH_TOKEN_CHARS_MAX,
  )
  const isText = /^[\x21-\x7e]+$/.test(answer.access_token)
  if (isLong || !isText || answer.token_type !== 'bearer') {
    throw new McpOAuthFailure('refused', 'token')
  }
  return {
    access: answer.access_token,
    refresh: answer.refresh_token ?? null,
    expiresInSeconds: answer.expires_in ?? null,
  }
}

function explained(error: unknown, status: number | 'asked' | null): McpOAuthFailure {
  if (error instanceof McpOAuthFailure) return error
  if (error instanceof client.AuthorizationResponseError) {
    return new McpOAuthFailure(error.error === 'access_denied' ? 'denied' : 'refused', 'answer')
  }
  if (status === null) return new McpOAuthFailure('refused', 'answer')
  const refused = typeof status === 'number' && status >= 400 && status < 500
  return new McpOAuthFailure(refused ? 'refused' : 'unavailable', `status_${status}`)
}
