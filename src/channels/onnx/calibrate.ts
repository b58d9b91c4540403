import type { EmbedKind } from '../embedder.ts'

/** The cosine from which the specification shows a passage to the language model. */
const THRESHOLD = 0.45

/**
 * Models differ in the cosine at which a passage becomes relevant (`relevant`); the specification
 * fixes 0.45. One constant component appended to every unit vector maps the one onto the other:
 * with weight w the cosine of two such vectors is (1 − w)·cos ± w, again of unit vectors, in the
 * same order. Where the model's cosines run too low the component has one sign in queries and
 * passages, where they run too high opposite ones.
 */
export function calibration(relevant: number | null) {
  if (relevant === null || relevant === THRESHOLD) return (vector: Float32Array) => vector
  const low = relevant < THRESHOLD
  const weight = low
    ? (THRESHOLD - relevant) / (1 - relevant)
    : (relevant - THRESHOLD) / (relevant + 1)
  const scale = Math.sqrt(1 - weight)
  const constant = Math.sqrt(weight)
  return (vector: Float32Array, kind: EmbedKind): Float32Array => {
    const longer = new Float32Array(vector.length + 1)
    // The zero vector, of a text without tokens, stays zero: it is near to nothing.
    if (vector.every((x) => x === 0)) return longer
    for (let d = 0; d < vector.length; d++) longer[d] = (vector[d] as number) * scale
    longer[vector.length] = low || kind === 'passage' ? constant : -constant
    return longer
  }
}
