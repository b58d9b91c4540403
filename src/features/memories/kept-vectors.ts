/** A fact as it reads now. */
export type Told = { readonly id: string; readonly text: string }

/** Vectors kept in memory, about 13 MB; a fact is in none of them once its text was changed. */
const VECTORS_KEPT_MAX = 16_000

export interface KeptVector extends Told {
  readonly model: string
  readonly vector: Int8Array
  /** What the numbers are multiplied by; a byte each tells facts apart well enough. */
  readonly scale: number
}

function inBytes(vector: Float32Array): Pick<KeptVector, 'vector' | 'scale'> {
  const largest = vector.reduce((most, x) => Math.max(most, Math.abs(x)), 0)
  const scale = largest / 127
  return { scale, vector: Int8Array.from(vector, (x) => (scale === 0 ? 0 : Math.round(x / scale))) }
}

/** The cosine to a question's vector; a loop of its own, for numbers of one kind. */
export function cosine(question: Float32Array, { vector, scale }: KeptVector): number {
  let sum = 0
  for (let d = 0; d < question.length; d++) sum += (question[d] as number) * (vector[d] ?? 0)
  return scale * sum
}

/** Vectors by fact, the last read ones. Texts are read anew for each turn, so none is kept gone. */
export function createKeptVectors() {
  const kept = new Map<string, KeptVector>()
  return {
    find({ id, text }: Told, model: string): KeptVector | null {
      const one = kept.get(id)
      return one?.text === text && one.model === model ? one : null
    },
    add({ id, text }: Told, model: string, whole: Float32Array): KeptVector {
      const { vector, scale } = inBytes(whole)
      const one = { id, text, model, vector, scale }
      kept.delete(id)
      kept.set(id, one)
      const [oldest] = kept.size > VECTORS_KEPT_MAX ? kept.keys() : []
      if (oldest !== undefined) kept.delete(oldest)
      return one
    },
  }
}
