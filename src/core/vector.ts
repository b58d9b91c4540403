/** Scales to unit length in place; the zero vector stays as it is. */
export function normalize(vector: Float32Array): Float32Array {
  let square = 0
  for (const x of vector) square += x * x
  if (square === 0 || !Number.isFinite(square)) return vector.fill(0)
  const scale = 1 / Math.sqrt(square)
  for (let d = 0; d < vector.length; d++) vector[d] = (vector[d] as number) * scale
  return vector
}

/** The unit vector of a text by those of its parts, weighted by their lengths. */
export function joinParts(parts: readonly { vector: Float32Array; weight: number }[]) {
  const sum = new Float32Array(parts[0]?.vector.length ?? 0)
  for (const { vector, weight } of parts) {
    for (let d = 0; d < sum.length; d++) sum[d] = (sum[d] as number) + (vector[d] ?? 0) * weight
  }
  return normalize(sum)
}

/** Dot product; of unit vectors, the cosine. */
export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let d = 0; d < a.length; d++) sum += (a[d] as number) * (b[d] ?? 0)
  return sum
}
