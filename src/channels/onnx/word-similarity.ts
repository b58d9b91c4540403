import { leastRecentlyUsed } from '../../core/bounded-maps.ts'
import { dot, normalize } from '../../core/vector.ts'

/** The first so many dimensions of a word's vector order words as well as all of them do. */
const DIMENSIONS = 256
/** Of a text, more than a chunk of ordinary writing has: the time of a call is bounded. */
const PASSAGE_WORDS_MAX = 400
const QUESTION_WORDS_MAX = 32
/** Words whose vectors are kept, in 16 MB. */
const VOCABULARY_MAX = 16_384
/** Words of passages that are kept, in 4 MB: to cut a passage takes a fifth of a millisecond. */
const PASSAGE_WORDS_KEPT = 1_000_000
/** The least that a word of the question counts. */
const WEIGHT_MIN = 0.02

type Embed = (texts: readonly string[]) => Promise<Float32Array[]>

/**
 * How well each passage holds the words of a question, by their meaning, from 0 to 1: each word of
 * the question is compared with the most similar word of the passage (MaxSim, the late interaction
 * of ColBERT, Khattab and Zaharia 2020, here on the vectors of a static model). It finds what the
 * one vector of a whole passage has averaged away.
 *
 * A word counts for what the model makes of it in the question, which is the cosine of its vector
 * and the question's, times its rarity among these passages: the word that all of them hold tells
 * none from another.
 */
export function createWordSimilarity(embed: Embed) {
  const segmenter = new Intl.Segmenter('zh', { granularity: 'word' })
  let vocabulary = new Map<string, number>()
  let vectors = new Float32Array(0)
  const passageWords = leastRecentlyUsed<Uint32Array>(PASSAGE_WORDS_KEPT, (ids) => ids.length)
  // No tenant can make a text that is taken for another's.
  const seed = crypto.getRandomValues(new BigUint64Array(1))[0]

  function wordsOf(text: string, max: number): string[] {
    const words = new Set<string>()
    for (const { segment, isWordLike } of segmenter.segment(text.normalize('NFKC').toLowerCase())) {
      if (isWordLike) words.add(segment)
      if (words.size === max) break
    }
    return [...words]
  }

  /** The vectors of words that are new, a row each. */
  async function learn(words: readonly string[]): Promise<void> {
    const fresh = words.filter((word) => !vocabulary.has(word))
    const rows = vocabulary.size + fresh.length
    if (rows * DIMENSIONS > vectors.length) {
      const larger = new Float32Array(2 * rows * DIMENSIONS)
      larger.set(vectors)
      vectors = larger
    }
    for (const [i, vector] of (await embed(fresh)).entries()) {
      const row = vocabulary.size
      vectors.set(beginning(vector), row * DIMENSIONS)
      vocabulary.set(fresh[i] as string, row)
    }
  }

  async function idsOf(texts: readonly string[]): Promise<Uint32Array[]> {
    if (vocabulary.size > VOCABULARY_MAX) {
      vocabulary = new Map()
      passageWords.clear()
    }
    const keys = texts.map((text) => `${Bun.hash(text, seed)}`)
    const known = keys.map((key) => passageWords.get(key))
    const cut = texts.map((text, i) => (known[i] ? [] : wordsOf(text, PASSAGE_WORDS_MAX)))
    await learn([...new Set(cut.flat())])
    return texts.map((_, i) => {
      const ids = known[i] ?? Uint32Array.from(cut[i] ?? [], (word) => vocabulary.get(word) ?? 0)
      passageWords.put(keys[i] ?? '', ids)
      return ids
    })
  }

  return async function similarities(
    question: string,
    passages: readonly string[],
  ): Promise<number[]> {
    const asked = wordsOf(question, QUESTION_WORDS_MAX)
    if (asked.length === 0) return passages.map(() => 0)
    const ids = await idsOf(passages)
    const [whole, ...words] = await embed([question, ...asked])
    const sums = new Float64Array(passages.length)
    let total = 0
    for (const [i, vector] of words.entries()) {
      const inModel = Math.max(WEIGHT_MIN, dot(whole as Float32Array, vector))
      const best = mostSimilar(beginning(vector), ids, vectors)
      const holding = ids.filter((own) => own.includes(vocabulary.get(asked[i] ?? '') ?? -1)).length
      const weight = inModel * rarity(passages.length, holding)
      total += weight
      for (const [at, similarity] of best.entries())
        sums[at] = (sums[at] ?? 0) + weight * similarity
    }
    return Array.from(sums, (sum) => sum / total)
  }
}

const beginning = (vector: Float32Array) => normalize(vector.slice(0, DIMENSIONS))

const rarity = (all: number, holding: number) =>
  Math.log(1 + (all - holding + 0.5) / (holding + 0.5))

/** For each passage the similarity of its most similar word; a word is compared once for all. */
function mostSimilar(word: Float32Array, passages: readonly Uint32Array[], vectors: Float32Array) {
  const compared = new Map<number, number>()
  return passages.map((ids) => {
    let best = 0
    for (const id of ids) {
      let similarity = compared.get(id)
      if (similarity === undefined) {
        similarity = dot(word, vectors.subarray(id * DIMENSIONS, (id + 1) * DIMENSIONS))
        compared.set(id, similarity)
      }
      if (similarity > best) best = similarity
    }
    return best
  })
}
