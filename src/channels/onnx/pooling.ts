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

/** Scales to unit length, in place. Zero, the vector of a text without tokens, stays zero. */
export function normalize(vector: Float32Array): Float32Array {
  let square = 0
  for (const x of vector) square += x * x
  if (square === 0 || !Number.isFinite(square)) return vector.fill(0)
  const scale = 1 / Math.sqrt(square)
  for (let d = 0; d < vector.length; d++) vector[d] = (vector[d] as number) * scale
  return vector
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
