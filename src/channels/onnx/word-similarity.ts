import { leastRecentlyUsed } from '../../core/bounded-maps.ts'
import { dot, normalize } from '../../core/vector.ts'

/** The first 256 dimensions of a word's vector rank words as well as all dimensions do. */
const DIMENSIONS = 256
/** Words of a passage that are compared, more than a usual chunk has; bounds the time of a call. */
const PASSAGE_WORDS_MAX = 400
const QUESTION_WORDS_MAX = 32
/** Words whose vectors are kept, in 16 MB; one call may add 12,000 before they are forgotten. */
const VOCABULARY_MAX = 16_384
/** Words of passages that are kept, in 4 MB: splitting a passage takes 0.2 ms. */
const PASSAGE_WORDS_KEPT = 1_000_000
/** The smallest weight of a word of the question. */
const WEIGHT_MIN = 0.02

type Embed = (texts: readonly string[]) => Promise<Float32Array[]>

/**
 * How well each passage holds the words of a question, by their meaning, from 0 to 1: each word of
 * the question is compared with the most similar word of the passage (MaxSim, the late interaction
 * of ColBERT, Khattab and Zaharia 2020, here on the vectors of a static model). It finds what the
 * one vector of a whole passage has averaged away.
 *
 * The weight of a word is the cosine of its vector and the question's, times its rarity among these
 * passages: a word that all of them hold distinguishes none.
 */
export function createWordSimilarity(embed: Embed) {
  const segmenter = new Intl.Segmenter('zh', { granularity: 'word' })
  let vocabulary = new Map<string, number>()
  let vectors = new Float32Array(0)
  const passageWords = leastRecentlyUsed<Uint32Array>(PASSAGE_WORDS_KEPT, (ids) => ids.length)
  // A random seed, so that no tenant can construct a text whose hash equals that of another text.
  const seed = crypto.getRandomValues(new BigUint64Array(1))[0]

  function wordsOf(text: string, max: number): string[] {
    const words = new Set<string>()
    for (const { segment, isWordLike } of segmenter.segment(text.normalize('NFKC').toLowerCase())) {
      if (isWordLike) words.add(segment)
      if (words.size === max) break
    }
    return [...words]
  }

  /** Embeds the words that are new and adds a row for each to the table. */
  async function learn(words: readonly string[]): Promise<void> {
    const fresh = words.filter((word) => !vocabulary.has(word))
    const rows = vocabulary.size + fresh.length
    if (rows * DIMENSIONS > vectors.length) {
      const larger = new Float32Array(Math.max(rows, VOCABULARY_MAX) * DIMENSIONS)
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
    const questionWords = wordsOf(question, QUESTION_WORDS_MAX)
    if (questionWords.length === 0) return passages.map(() => 0)
    const ids = await idsOf(passages)
    const [whole, ...words] = await embed([question, ...questionWords])
    const weights = words.map((vector, i) => {
      const inModel = Math.max(WEIGHT_MIN, dot(whole as Float32Array, vector))
      const own = vocabulary.get(questionWords[i] ?? '')
      const holding = own === undefined ? 0 : ids.filter((all) => all.includes(own)).length
      return inModel * rarity(passages.length, holding)
    })
    const total = weights.reduce((sum, weight) => sum + weight, 0)
    const best = mostSimilar(words.map(beginning), ids, vectors)
    return best.map((own) => own.reduce((sum, x, i) => sum + x * (weights[i] ?? 0), 0) / total)
  }
}

const beginning = (vector: Float32Array) => normalize(vector.slice(0, DIMENSIONS))

const rarity = (all: number, holding: number) =>
  Math.log(1 + (all - holding + 0.5) / (holding + 0.5))

/**
 * For each passage and each word, the similarity of the passage's most similar word. Reads each row
 * of the table once, because memory is slower than arithmetic.
 */
function mostSimilar(
  words: readonly Float32Array[],
  passages: readonly Uint32Array[],
  table: Float32Array,
): Float32Array[] {
  const similarities = new Float32Array((table.length / DIMENSIONS) * words.length)
  const isKnown = new Uint8Array(table.length / DIMENSIONS)
  return passages.map((ids) => {
    const best = new Float32Array(words.length)
    for (let at = 0; at < ids.length; at++) {
      const id = ids[at] as number
      const from = id * words.length
      if (isKnown[id] === 0) {
        for (let i = 0; i < words.length; i++) {
          similarities[from + i] = dotAt(words[i] as Float32Array, table, id * DIMENSIONS)
        }
        isKnown[id] = 1
      }
      for (let i = 0; i < best.length; i++) {
        best[i] = Math.max(best[i] as number, similarities[from + i] as number)
      }
    }
    return best
  })
}

/** Four sums in parallel: nearly all of a call's time is spent here. */
function dotAt(word: Float32Array, vectors: Float32Array, from: number): number {
  let a = 0
  let b = 0
  let c = 0
  let d = 0
  for (let i = 0; i < DIMENSIONS; i += 4) {
    a += (word[i] as number) * (vectors[from + i] as number)
    b += (word[i + 1] as number) * (vectors[from + i + 1] as number)
    c += (word[i + 2] as number) * (vectors[from + i + 2] as number)
    d += (word[i + 3] as number) * (vectors[from + i + 3] as number)
  }
  return a + b + c + d
}
