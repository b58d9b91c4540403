import type { EmbedKind } from '../ports/embedder.ts'

/** Messages between the server and its embedding process; one request is open at a time. */
export interface EmbedRequest {
  readonly type: 'embed'
  readonly kind: EmbedKind
  readonly texts: readonly string[]
}

export type EmbedAnswer =
  /** The vectors of all texts, one behind the other. */
  | { readonly type: 'vectors'; readonly values: Float32Array }
  | { readonly type: 'error'; readonly message: string }
