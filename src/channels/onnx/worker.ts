import { lazy } from '../../core/lazy.ts'
import { errorMessage, type ParentLink, serveParent } from '../../upstream/child/worker-link.ts'
import type { EmbedKind, WordSimilarity } from '../../upstream/ports/embedder.ts'
import { readLexicon } from './lexicon.ts'
import { loadModel } from './model.ts'
import { createWordSimilarity } from './word-similarity.ts'

/** Messages between the server and its embedding process; one request is open at a time. */
export type EmbedRequest =
  | { readonly type: 'embed'; readonly kind: EmbedKind; readonly texts: readonly string[] }
  | { readonly type: 'compare'; readonly question: string; readonly texts: readonly string[] }

export type EmbedAnswer =
  /** The vectors of all texts, concatenated, and the number of their tokens. */
  | { readonly type: 'vectors'; readonly values: Float32Array; readonly tokens: number }
  /** For each text, how well it matches the words of the question. */
  | { readonly type: 'similarities'; readonly values: readonly WordSimilarity[] }
  | { readonly type: 'error'; readonly message: string }

/**
 * The embedding process. ONNX Runtime blocks its thread and has crashed other programs at exit, so
 * it runs outside the server. Resolves when the server has gone.
 */
export function runEmbedWorker(dir: string, parent: ParentLink<EmbedRequest>): Promise<void> {
  return serveParent<EmbedRequest, EmbedAnswer>(parent, async (send) => {
    const model = await loadModel(dir)
    const similarities = createWordSimilarity(
      async (words) => (await model.embed(words, 'passage')).vectors,
      lazy(() => readLexicon(dir)),
    )

    async function answer(request: EmbedRequest): Promise<EmbedAnswer> {
      if (request.type === 'compare') {
        const values = await similarities(request.question, request.texts)
        return { type: 'similarities', values }
      }
      const { vectors, tokens } = await model.embed(request.texts, request.kind)
      return { type: 'vectors', values: flatten(vectors), tokens }
    }

    return async (request) => {
      try {
        send(await answer(request))
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
