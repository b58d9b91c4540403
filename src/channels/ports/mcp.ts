/** Why a server of tools could not be asked (contract 2, section 2.6, error_class). */
export type McpFailureReason =
  | 'unreachable'
  | 'timeout'
  | 'refused'
  | 'malformed'
  | 'too_large'
  | 'guarded'

/**
 * A server of tools did not do its work. `phrase` is short and of ours, such as `HTTP 502`: it
 * never holds what the server has said, a header or an address.
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

/** Where a tenant's server of tools is, and what it is sent with every request. */
export interface McpEndpoint {
  readonly tenantId: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

export interface McpListing {
  /** The revision of the protocol that was agreed on. */
  readonly protocol: string
  /** As the server has written them, unchecked. */
  readonly tools: readonly unknown[]
  /** How long the server wants this to be believed, in milliseconds; null when it does not say. */
  readonly ttlMs: number | null
}

export interface McpToolCall {
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
  /** Arguments that are repeated in headers, by the names of those, where the revision has such. */
  readonly params: Readonly<Record<string, string>>
  /** More headers of this call alone. */
  readonly headers: Readonly<Record<string, string>>
}

/** The result of a call as the server has written it, unchecked. */
export type McpToolResult = Readonly<Record<string, unknown>>

/** Speaks to servers of tools. Rejects with `McpFailure`, or with the signal's reason. */
export interface McpClient {
  /** Agrees on a revision, and lists the tools. `known` is what was agreed on before, if ever. */
  list(endpoint: McpEndpoint, known: string | null, signal: AbortSignal): Promise<McpListing>
  /** `protocol` is the revision that the listing was agreed on. */
  call(
    endpoint: McpEndpoint,
    protocol: string,
    call: McpToolCall,
    signal: AbortSignal,
  ): Promise<McpToolResult>
}
