/** Why an MCP server could not be used. */
export type McpFailureReason =
  | 'unreachable'
  | 'timeout'
  | 'refused'
  | 'malformed'
  | 'outdated'
  | 'too_large'
  | 'guarded'
  /** A person has to sign in. */
  | 'sign_in'
  | 'undecryptable'

/**
 * An MCP server failed. `phrase` is a short text of ours, such as `HTTP 502`: it never holds text
 * of the server, a header or an address.
 */
export class McpFailure extends Error {
  override readonly name = 'McpFailure'

  constructor(
    readonly reason: McpFailureReason,
    readonly phrase: string,
    details: FailureDetails = {},
  ) {
    super(phrase, details)
    this.unauthorized = details.unauthorized ?? false
    this.scopes = details.scopes ?? null
  }

  /** Whether the server did not accept the credential, or its absence (401). */
  readonly unauthorized: boolean
  /** What the token would have to be good for, where it is not enough (403); as the server says. */
  readonly scopes: string | null
}

interface FailureDetails {
  readonly cause?: unknown
  readonly unauthorized?: boolean
  readonly scopes?: string | null
}

/** The address of a tenant's MCP server and the headers of every request to it. */
export interface McpEndpoint {
  readonly tenantId: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /**
   * Who has signed in there: the same for every token that a refresh brings, another one after
   * another sign-in. Sessions are theirs. Absent: whoever has these headers.
   */
  readonly signedIn?: string | undefined
}

export interface McpListing {
  /** The revision of the protocol that was agreed on. */
  readonly protocol: string
  /** As the server sent them, unchecked. */
  readonly tools: readonly unknown[]
  /** How long the listing is valid by the server, in milliseconds; null when it does not say. */
  readonly ttlMs: number | null
}

export interface McpToolCall {
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
  /** Arguments that the revision repeats in headers, by header name. */
  readonly params: Readonly<Record<string, string>>
  /** More headers of this call alone. */
  readonly headers: Readonly<Record<string, string>>
  /** Absent: the server is told that nobody is there to ask. */
  readonly elicit?: Elicit
  /** Calls of the same one find what the others have left at the server; null: of none. */
  readonly conversation?: string | null
}

/** The parameters of a request with which a server asks the person, unchecked. */
export type Elicitation = Readonly<Record<string, unknown>>

/** What the person says to it. */
export interface Elicited {
  readonly action: 'accept' | 'decline'
  readonly content?: Readonly<Record<string, unknown>>
}

/** Asks the person of the turn; rejects with what the call then fails with. */
export type Elicit = (request: Elicitation) => Promise<Elicited>

/** The call cannot go on, because of what the server has asked. */
export class ElicitationRefused extends Error {
  override readonly name = 'ElicitationRefused'
}

/** The result of a call as the server sent it, unchecked. */
export type McpToolResult = Readonly<Record<string, unknown>>

/** A client of MCP servers. Rejects with `McpFailure`, or with the signal's reason. */
export interface McpClient {
  /** Agrees on a revision and lists the tools. `known` is the revision agreed on before, if any. */
  list(endpoint: McpEndpoint, known: string | null, signal: AbortSignal): Promise<McpListing>
  /** `protocol` is the revision that the listing was agreed on. */
  call(
    endpoint: McpEndpoint,
    protocol: string,
    call: McpToolCall,
    signal: AbortSignal,
  ): Promise<McpToolResult>
}
