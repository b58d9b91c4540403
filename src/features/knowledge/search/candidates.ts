import type { Question } from '../../../core/question.ts'
import { dot } from '../../../core/vector.ts'
import type { VectorIndex, WordIndex } from '../../../storage/indexes.ts'
import type { KbView } from '../collections/access.ts'
import type { LiveEmbedding } from '../index/embedding.ts'
import { indexTextOf } from '../index/index-text.ts'
import type { Passage } from '../index/passage-store.ts'
import type { KbStore } from '../index/store.ts'
import type { CalibrationOf } from './calibration.ts'
import { queryTerms, withoutStopWords } from './terms.ts'

/** Candidates of each index. */
const BY_WORDS = 50
/** More than of words, because the order by score may differ from the order by cosine. */
const BY_VECTORS = 60
/** Passages without a vector that one search embeds; few, because a person waits. */
const EMBEDDED_MAX = 5

export interface CandidateParts {
  readonly store: Pick<KbStore, 'passages' | 'size'>
  readonly embedding: LiveEmbedding
  readonly vectors: VectorIndex
  readonly words: WordIndex
  readonly calibrationOf: CalibrationOf
}

/** A passage that an index found. */
export interface Candidate {
  readonly passage: Passage
  /** On the scale of the shipped model; null when it is unknown. */
  readonly cosine: number | null
  /** The cosine on the scale that people see. */
  readonly score: number
  /** How much of the question's words it holds, 0 to 1. */
  readonly coverage: number
}

/** The passages that the vectors and the words find, unordered, with the cosine of each. */
export function createCandidates(parts: CandidateParts) {
  const { store, embedding, vectors, words, calibrationOf } = parts

  return async function candidatesOf(
    view: KbView,
    asked: Question,
    signal?: AbortSignal,
  ): Promise<Candidate[]> {
    const { tenantId, collections } = view
    const { text: question } = asked
    const embedder = embedding.current.shared
    const query = await asked.vector(embedder)
    const space = { tenantId, collections, model: await embedder.identify(signal) }
    // A text without a word that the model knows has the zero vector, which is near to nothing.
    const vector = query?.some((x) => x !== 0) ? query : null
    const [byWord, near] = await Promise.all([
      words.search(tenantId, queryTerms(withoutStopWords(question)), BY_WORDS, signal, collections),
      vector ? vectors.search(space, vector, BY_VECTORS, signal) : [],
    ])
    const cosines = new Map(near.map(({ key, cosine }) => [key, cosine]))
    const coverage = new Map(byWord.map((match) => [match.key, match.coverage]))
    const byWordAlone = byWord.map(({ key }) => key).filter((key) => !cosines.has(key))
    const [passages] = await Promise.all([
      store.passages(view, [...cosines.keys(), ...byWordAlone], signal),
      vector ? addCosines(vector, byWordAlone) : null,
    ])
    if (vector) await addMissing(vector, passages)
    const calibrated = embedder.hasWords
      ? asItIs
      : vector && (await calibrationOf(space, vector.length, signal))
    return passages.map((passage) => {
      const cosine = cosines.get(passage.key)
      return {
        passage,
        cosine: calibrated?.(cosine ?? 0) ?? null,
        score: cosine === undefined ? 0 : embedder.score(cosine, question, indexTextOf(passage)),
        coverage: coverage.get(passage.key) ?? 0,
      }
    })

    async function addCosines(vector: Float32Array, keys: readonly number[]): Promise<void> {
      if (keys.length === 0) return
      for (const { key, cosine } of await vectors.cosines(space, vector, keys, signal)) {
        cosines.set(key, cosine)
      }
    }

    /** Embeds passages without a vector of this model: their documents wait to be embedded. */
    async function addMissing(vector: Float32Array, found: readonly Passage[]): Promise<void> {
      const missing = found
        .filter(({ key }) => !cosines.has(key))
        .toSorted((a, b) => (coverage.get(b.key) ?? 0) - (coverage.get(a.key) ?? 0))
        .slice(0, EMBEDDED_MAX)
      if (missing.length === 0) return
      const texts = missing.map(indexTextOf)
      const fresh = await embedder.embedForSearch(tenantId, texts, 'passage', signal)
      for (const [i, one] of fresh.entries()) {
        const key = missing[i]?.key
        if (key !== undefined && one.some((x) => x !== 0)) cosines.set(key, dot(vector, one))
      }
    }
  }
}

const asItIs = (cosine: number) => cosine
