import type { EmbedKind } from '../ports/embedder.ts'

/** Messages between the server and its embedding process; one request is open at a time. */
export interface EmbedRequest {
  readonly id: number
  readonly kind: EmbedKind
  readonly texts: readonly string[]
}

export type EmbedAnswer =
  /** The model is loaded. */
  | { readonly type: 'ready' }
  /** The model cannot be loaded; the process ends. */
  | { readonly type: 'unloadable'; readonly message: string }
  /** All vectors of request `id`, one behind the other. */
  | { readonly type: 'vectors'; readonly id: number; readonly values: Float32Array }
  | { readonly type: 'error'; readonly id: number; readonly message: string }
