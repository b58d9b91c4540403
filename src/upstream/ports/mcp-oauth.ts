/** An authorization server of an MCP server, as its metadata describes it; plain JSON. */
export interface McpIssuer {
  readonly issuer: string
  /** Null where nobody can sign in with a browser. */
  readonly authorization: string | null
  readonly token: string
  readonly registration: string | null
  readonly revocation: string | null
  /** How clients may prove who they are at the token endpoint; null when it does not say. */
  readonly methods: readonly string[] | null
  readonly idTokenAlgorithms: readonly string[] | null
  /** Whether a client may be named by the address of its metadata document. */
  readonly hasClientDocuments: boolean
  /** Whether it promises `iss` in answers to the browser (RFC 9207). */
  readonly promisesIss: boolean
  /** The MCP server, as tokens for it are asked for (RFC 8707). */
  readonly resource: string
  /** The scopes to ask for where the tenant names none; null: without any. */
  readonly scopes: string | null
}

export interface McpOAuthClient {
  readonly id: string
  /** Null for a public client. */
  readonly secret: string | null
}

export interface McpTokens {
  readonly access: string
  readonly refresh: string | null
  /** Null when the issuer does not say. */
  readonly expiresInSeconds: number | null
}

/** What the browser's way to the issuer and back is bound by. */
export interface McpSignInAttempt {
  readonly state: string
  /** PKCE code verifier (RFC 7636). */
  readonly verifier: string
  readonly redirectUri: string
  readonly scopes: string | null
}

/**
 * `none`: there is no way to sign in that can be used. `denied`: the person said no. `refused`: the
 * issuer said no, or its answer does not belong to the attempt. `unavailable`: it did not answer,
 * or had a fault.
 */
export type McpOAuthReason = 'none' | 'denied' | 'refused' | 'unavailable'

/** `code` is a fixed word for the log, without any text of the issuer. */
export class McpOAuthFailure extends Error {
  override readonly name = 'McpOAuthFailure'

  constructor(
    readonly reason: McpOAuthReason,
    readonly code: string,
  ) {
    super(`mcp sign-in: ${reason} (${code})`)
  }
}

/** OAuth 2.1 as MCP uses it. All calls reject with `McpOAuthFailure`. */
export interface McpOAuth {
  /** Finds the issuer of an MCP server. `withBrowser`: people are to sign in there. */
  discover(tenantId: string, url: string, withBrowser: boolean): Promise<McpIssuer>
  /** Registers a client (RFC 7591). */
  register(tenantId: string, issuer: McpIssuer, redirectUri: string): Promise<McpOAuthClient>
  authorizationUrl(
    tenantId: string,
    issuer: McpIssuer,
    client: McpOAuthClient,
    attempt: McpSignInAttempt,
  ): string
  /** `callback` is the redirect URI with the parameters that the issuer added. */
  exchange(
    tenantId: string,
    issuer: McpIssuer,
    client: McpOAuthClient,
    attempt: McpSignInAttempt,
    callback: URL,
  ): Promise<McpTokens>
  refresh(
    tenantId: string,
    issuer: McpIssuer,
    client: McpOAuthClient,
    token: string,
  ): Promise<McpTokens>
  clientCredentials(
    tenantId: string,
    issuer: McpIssuer,
    client: McpOAuthClient,
    scopes: string | null,
  ): Promise<McpTokens>
  /** Withdraws tokens where the issuer has an address for that (RFC 7009). */
  revoke(
    tenantId: string,
    issuer: McpIssuer,
    client: McpOAuthClient,
    tokens: Pick<McpTokens, 'access' | 'refresh'>,
  ): Promise<void>
}
