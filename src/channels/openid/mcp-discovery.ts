import { z } from 'zod'
import { MCP_SCOPES_CHARS_MAX } from '../../core/limits/contract.ts'
import {
  OAUTH_ADDRESS_CHARS_MAX,
  OAUTH_KEPT_LIST_MAX,
  OAUTH_LIST_MAX,
  OAUTH_WORD_CHARS_MAX,
} from '../../core/limits/upstream.ts'
import { challengeParameter } from '../../upstream/net/www-authenticate.ts'
import { type McpIssuer, McpOAuthFailure } from '../../upstream/ports/mcp-oauth.ts'

/** Reads a JSON document; null for whatever is not answered with status 200 and JSON. */
export type ReadDocument = (url: string) => Promise<unknown>

/** What an MCP server says to a request without a token. */
export type Challenge = (url: string) => Promise<string | null>

export interface DiscoveryOptions {
  readonly read: ReadDocument
  readonly challenge: Challenge
  /** Whether an address may be asked: https, or http at a private host that is allowed. */
  readonly mayAsk: (url: string) => boolean
}

// What is read here is kept with each sign-in under way and each token, so all of it has a limit.
const address = z.string().max(OAUTH_ADDRESS_CHARS_MAX)
const word = z.string().max(OAUTH_WORD_CHARS_MAX)
const words = z.array(word).max(OAUTH_LIST_MAX)
const keptWords = z.array(word).max(OAUTH_KEPT_LIST_MAX)

const Resource = z.object({
  resource: address,
  authorization_servers: z.array(address).min(1).max(OAUTH_LIST_MAX).optional(),
  scopes_supported: words.optional(),
})

const Metadata = z.object({
  issuer: address,
  authorization_endpoint: address.nullish(),
  token_endpoint: address,
  registration_endpoint: address.nullish(),
  revocation_endpoint: address.nullish(),
  code_challenge_methods_supported: keptWords.nullish(),
  token_endpoint_auth_methods_supported: keptWords.nullish(),
  id_token_signing_alg_values_supported: keptWords.nullish(),
  scopes_supported: words.nullish(),
  client_id_metadata_document_supported: z.boolean().nullish(),
  authorization_response_iss_parameter_supported: z.boolean().nullish(),
})

const none = (code: string) => new McpOAuthFailure('none', code)

/**
 * Finds the authorization server of the MCP server at `url`: named by the metadata of the resource
 * (RFC 9728), else on the origin of the server itself, as in revision 2025-03-26 of MCP.
 */
export async function discover(
  { read, challenge, mayAsk }: DiscoveryOptions,
  url: string,
  withBrowser: boolean,
): Promise<McpIssuer> {
  const said = (await challenge(url)) ?? ''
  const found = await resourceOf(read, url, challengeParameter(said, 'resource_metadata'))
  const issuer = found?.authorization_servers?.[0] ?? new URL(url).origin
  const metadata = await metadataOf(read, issuer)
  const { authorization_endpoint: authorization = null, token_endpoint: token } = metadata
  const { registration_endpoint: registration = null, revocation_endpoint: revocation } = metadata
  if (withBrowser) {
    const methods = metadata.code_challenge_methods_supported ?? []
    if (!methods.includes('S256')) throw none('no_s256')
    if (authorization === null || !mayAsk(authorization)) throw none('authorization_endpoint')
  }
  if (!mayAsk(token)) throw none('token_endpoint')
  const named = challengeParameter(said, 'scope') ?? (found?.scopes_supported ?? []).join(' ')
  // Without scopes the issuer grants its usual ones, and the tenant can name those it wants.
  const wanted = named.length > MCP_SCOPES_CHARS_MAX ? '' : named
  return {
    issuer: metadata.issuer,
    authorization,
    token,
    registration,
    revocation: revocation ?? null,
    methods: metadata.token_endpoint_auth_methods_supported ?? null,
    idTokenAlgorithms: metadata.id_token_signing_alg_values_supported ?? null,
    hasClientDocuments: metadata.client_id_metadata_document_supported === true,
    promisesIss: metadata.authorization_response_iss_parameter_supported === true,
    resource: found?.resource ?? canonical(url),
    scopes: withBrowser ? withRefresh(wanted, metadata.scopes_supported ?? []) : wanted || null,
  }
}

/** Issuers of OpenID give a refresh token only to who asks for offline access. */
function withRefresh(wanted: string, supported: readonly string[]): string | null {
  const scopes = wanted.split(' ').filter(Boolean)
  const more = supported.includes('offline_access') && !scopes.includes('offline_access')
  return [...scopes, ...(more ? ['offline_access'] : [])].join(' ') || null
}

/** The metadata of the resource; null when there is none. Throws for that of another resource. */
async function resourceOf(read: ReadDocument, url: string, told: string | null) {
  const { origin, pathname } = new URL(url)
  const path = pathname === '/' ? '' : pathname
  const known = `${origin}/.well-known/oauth-protected-resource`
  for (const place of new Set([...(told ? [told] : []), `${known}${path}`, known])) {
    const document = await read(place)
    if (document === null) continue
    const resource = Resource.safeParse(document).data
    if (!resource) throw none('resource_metadata')
    if (!covers(resource.resource, url)) throw none('other_resource')
    return resource
  }
  return null
}

/** Whether metadata about `resource` applies to the server at `url`, which may lie below it. */
function covers(resource: string, url: string): boolean {
  const [whole, part] = [URL.parse(resource), new URL(url)]
  if (whole === null || whole.origin !== part.origin) return false
  const folder = whole.pathname.replace(/\/*$/, '/')
  return part.pathname.replace(/\/*$/, '/').startsWith(folder)
}

const canonical = (url: string): string => {
  const { origin, pathname, search } = new URL(url)
  return pathname === '/' && search === '' ? origin : `${origin}${pathname}${search}`
}

/** RFC 8414 and OpenID Connect Discovery. Throws for metadata of another issuer. */
async function metadataOf(read: ReadDocument, issuer: string) {
  const base = URL.parse(issuer)
  if (base === null) throw none('issuer')
  const path = base.pathname.replace(/\/+$/, '')
  const places = [
    `${base.origin}/.well-known/oauth-authorization-server${path}`,
    `${base.origin}/.well-known/openid-configuration${path}`,
    `${base.origin}${path}/.well-known/openid-configuration`,
  ]
  for (const place of new Set(places)) {
    const document = await read(place)
    if (document === null) continue
    const metadata = Metadata.safeParse(document).data
    if (!metadata) throw none('metadata')
    if (URL.parse(metadata.issuer)?.href !== base.href) throw none('other_issuer')
    return metadata
  }
  throw none('no_metadata')
}
