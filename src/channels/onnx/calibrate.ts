import type { EmbedKind } from '../ports/embedder.ts'
import { hanShare } from './han-share.ts'

/** The cosine from which the specification shows a passage to the language model. */
export const THRESHOLD = 0.45

export type Calibrate = (vector: Float32Array, kind: EmbedKind, text: string) => Float32Array

/**
 * Models differ in the cosine at which a passage becomes relevant (`relevant`); the specification
 * fixes 0.45. One constant component appended to every unit vector maps the one onto the other:
 * with weight w the cosine of two such vectors is (1 − w)·cos ± w, again of unit vectors, in the
 * same order. Where the model's cosines run too low the component has one sign in queries and
 * passages, where they run too high opposite ones.
 *
 * `across`, where a model states it, is that cosine for a question and a passage in different
 * scripts, which are less near to each other; see `acrossScripts`.
 */
export function calibration(relevant: number | null, across: number | null): Calibrate {
  if (relevant !== null && across !== null) return acrossScripts(relevant, across)
  if (relevant === null || relevant === THRESHOLD) return (vector) => vector
  const low = relevant < THRESHOLD
  const weight = low
    ? (THRESHOLD - relevant) / (1 - relevant)
    : (relevant - THRESHOLD) / (relevant + 1)
  return (vector, kind) =>
    extend(vector, weight, [low || kind === 'passage' ? weight ** 0.5 : -(weight ** 0.5)])
}

/**
 * Two constant components of weight w, as a direction: those of a question and of a passage in the
 * other script are the same, which adds w to the cosine, those of one script are the angle `turn`
 * apart. So both cosines meet the threshold, and a bilingual knowledge base is searched evenly.
 */
function acrossScripts(relevant: number, across: number): Calibrate {
  const weight = (THRESHOLD - across) / (1 - across)
  const turn = Math.acos((THRESHOLD - (1 - weight) * relevant) / weight)
  return (vector, kind, text) => {
    const han = hanShare(text)
    const angle = turn * (kind === 'query' ? 1 - han : han)
    return extend(vector, weight, [
      weight ** 0.5 * Math.cos(angle),
      weight ** 0.5 * Math.sin(angle),
    ])
  }
}

function extend(vector: Float32Array, weight: number, constants: readonly number[]): Float32Array {
  const longer = new Float32Array(vector.length + constants.length)
  // The zero vector, of a text without tokens, stays zero: it is near to nothing.
  if (vector.every((x) => x === 0)) return longer
  const scale = Math.sqrt(1 - weight)
  for (let d = 0; d < vector.length; d++) longer[d] = (vector[d] as number) * scale
  longer.set(constants, vector.length)
  return longer
}
