import { normalize } from '../../core/vector.ts'

/** Token vectors [tokens × dimensions] of one row to one vector; `tokens` excludes the padding. */
export function meanOf(rows: Float32Array, tokens: number, dimensions: number): Float32Array {
  const mean = new Float32Array(dimensions)
  for (let t = 0; t < tokens; t++) {
    for (let d = 0; d < dimensions; d++) {
      mean[d] = (mean[d] as number) + (rows[t * dimensions + d] as number) / tokens
    }
  }
  return mean
}

/** One unit vector of the pieces of a long text, each weighing as many tokens as it has. */
export function joinPieces(
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
