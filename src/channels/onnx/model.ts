import { normalize } from '../../core/vector.ts'
import type { EmbedKind } from '../ports/embedder.ts'
import { readModelFolder } from './model-folder.ts'
import { openSession } from './session.ts'
import { openTokenizer, type Piece } from './tokenize.ts'

/** A loaded model, in the embedding process. */
export interface LoadedModel {
  embed(texts: readonly string[], kind: EmbedKind): Promise<Float32Array[]>
}

/** Padded tokens of one run, to bound its memory. */
const BATCH_TOKENS_MAX = 4096

/** Throws `ModelFolderError`, or the runtime's error for weights that it cannot load. */
export async function loadModel(dir: string): Promise<LoadedModel> {
  const model = await readModelFolder(dir)
  const [tokenize, session] = await Promise.all([openTokenizer(model), openSession(model)])

  return {
    async embed(texts, kind) {
      const prefix = kind === 'query' ? model.queryPrefix : model.passagePrefix
      const pieces = texts.flatMap((text, owner) =>
        tokenize(text, prefix).map((ids) => ({ ids, owner })),
      )
      const parts = texts.map((): { vector: Float32Array; weight: number }[] => [])
      for (const batch of batches(pieces.filter(({ ids }) => ids.length > 0))) {
        const vectors = await session.run(batch.map(({ ids }) => ids))
        for (const [i, { ids, owner }] of batch.entries()) {
          parts[owner]?.push({ vector: vectors[i] as Float32Array, weight: ids.length })
        }
      }
      return parts.map((own) => joinPieces(own, session.dimensions))
    },
  }
}

/** Groups sequences of similar length, to compute little padding. */
function batches<T extends { ids: Piece }>(pieces: readonly T[]): T[][] {
  const groups: T[][] = []
  let group: T[] = []
  for (const piece of [...pieces].sort((a, b) => a.ids.length - b.ids.length)) {
    if (group.length > 0 && (group.length + 1) * piece.ids.length > BATCH_TOKENS_MAX) {
      groups.push(group)
      group = []
    }
    group.push(piece)
  }
  return group.length > 0 ? [...groups, group] : groups
}

/** One unit vector of the pieces of a long text, weighted by their number of tokens. */
function joinPieces(
  pieces: readonly { vector: Float32Array; weight: number }[],
  dimensions: number,
): Float32Array {
  const sum = new Float32Array(dimensions)
  for (const { vector, weight } of pieces) {
    for (let d = 0; d < dimensions; d++) {
      sum[d] = (sum[d] as number) + (vector[d] as number) * weight
    }
  }
  return normalize(sum)
}
