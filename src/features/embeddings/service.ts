import { appError } from '../../core/errors.ts'
import type { LiveEmbedding } from '../knowledge/index/embedding.ts'
import { EMBEDDING_MODEL, type EmbeddingsRequest } from './model.ts'

export interface EmbeddingsAnswer {
  /** One a text, in order, of unit length. */
  readonly vectors: readonly Float32Array[]
  readonly model: string
  readonly tokens: number
}

/** Embeds texts of a client with the knowledge base's model, without storing them. */
export function createEmbeddings(embedding: LiveEmbedding) {
  function checkModel(model: string, name: string): void {
    if (['', EMBEDDING_MODEL, name].includes(model)) return
    throw appError('model_not_found', {}, { param: 'model' })
  }

  return {
    /** Throws 404 for an unknown model, 400 for another size, 502 when the model fails. */
    async embed(
      tenantId: string,
      request: EmbeddingsRequest,
      signal: AbortSignal,
    ): Promise<EmbeddingsAnswer> {
      const embedder = embedding.current.shared
      const name = embedder.name ?? EMBEDDING_MODEL
      checkModel(request.model?.trim() ?? '', name)
      const kind = request.input_type ?? 'passage'
      const { vectors, tokens } = await embedder.embedTexts(tenantId, request.input, kind, signal)
      // The size of a remote model is known only from its first vectors.
      const size = vectors[0]?.length
      if ((request.dimensions ?? size) !== size) {
        throw appError('unsupported_value', { field: 'dimensions' })
      }
      return { vectors, model: name, tokens }
    },
  }
}

export type Embeddings = ReturnType<typeof createEmbeddings>
