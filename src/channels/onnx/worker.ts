import { errorMessage, type ParentLink, serveParent } from '../child/worker-link.ts'
import { loadModel } from './model.ts'
import type { EmbedAnswer, EmbedRequest } from './protocol.ts'

/**
 * The embedding process: ONNX Runtime blocks the thread it runs on and has crashed at exit in other
 * hosts, so it lives apart from the server. Resolves when the server has gone.
 */
export function runEmbedWorker(dir: string, parent: ParentLink<EmbedRequest>): Promise<void> {
  return serveParent<EmbedRequest, EmbedAnswer>(parent, async (send) => {
    const model = await loadModel(dir)
    return async ({ kind, texts }) => {
      try {
        send({ type: 'vectors', values: flatten(await model.embed(texts, kind)) })
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
