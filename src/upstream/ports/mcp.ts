/** Why an MCP server could not be used. */
export type McpFailureReason =
  | 'unreachable'
  | 'timeout'
  | 'refused'
  | 'malformed'
  | 'outdated'
  | 'too_large'
  | 'guarded'

/**
 * An MCP server failed. `phrase` is a short text of ours, such as `HTTP 502`: it never holds text
 * of the server, a header or an address.
 */
export class McpFailure extends Error {
  override readonly name = 'McpFailure'

  constructor(
    readonly reason: McpFailureReason,
    readonly phrase: string,
    details: { readonly cause?: unknown } = {},
  ) {
    super(phrase, details)
  }
}

/** The address of a tenant's MCP server and the headers of every request to it. */
export interface McpEndpoint {
  readonly tenantId: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
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
