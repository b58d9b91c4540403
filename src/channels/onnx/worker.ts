import { errorMessage, type ParentLink, serveParent } from '../child/worker-link.ts'
import type { EmbedKind } from '../ports/embedder.ts'
import { loadModel } from './model.ts'

/** Messages between the server and its embedding process; one request is open at a time. */
export interface EmbedRequest {
  readonly type: 'embed'
  readonly kind: EmbedKind
  readonly texts: readonly string[]
}

export type EmbedAnswer =
  /** The vectors of all texts, one behind the other, and the tokens of each text. */
  | {
      readonly type: 'vectors'
      readonly values: Float32Array
      readonly tokens: readonly number[]
    }
  | { readonly type: 'error'; readonly message: string }

/**
 * The embedding process: ONNX Runtime blocks the thread it runs on and has crashed at exit in other
 * hosts, so it lives apart from the server. Resolves when the server has gone.
 */
export function runEmbedWorker(dir: string, parent: ParentLink<EmbedRequest>): Promise<void> {
  return serveParent<EmbedRequest, EmbedAnswer>(parent, async (send) => {
    const model = await loadModel(dir)
    return async ({ kind, texts }) => {
      try {
        const { vectors, tokens } = await model.embed(texts, kind)
        send({ type: 'vectors', values: flatten(vectors), tokens })
      } catch (error) {
        send({ type: 'error', message: errorMessage(error) })
      }
    }
  })
}

function flatten(vectors: readonly Float32Array[]): Float32Array {
  const dimensions = vectors[0]?.length ?? 0
  const values = new Float32Array(vectors.length * dimensions)
  for (const [row, vector] of vectors.entries()) values.set(vector, row * dimensions)
  return values
}
