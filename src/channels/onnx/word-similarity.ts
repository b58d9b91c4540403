import { leastRecentlyUsed } from '../../core/bounded-maps.ts'
import { stem } from '../../core/stem.ts'
import { dot, normalize } from '../../core/vector.ts'
import type { WordSimilarity } from '../../upstream/ports/embedder.ts'
import type { Lexicon } from './lexicon.ts'
import { createTranslations } from './translations.ts'

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

interface Sentence {
  readonly from: number
  readonly to: number
  /** Rows of its words in the table. */
  readonly ids: Uint32Array
}

/** The sentences of a passage that have words, and the number of those in its first line. */
interface PassageWords {
  readonly sentences: readonly Sentence[]
  readonly titles: number
}

/**
 * How well each passage holds the words of a question, by their meaning: each word of the question
 * is compared with the most similar word of the passage, and of each of its sentences (MaxSim, the
 * late interaction of ColBERT, Khattab and Zaharia 2020, here on the vectors of a static model). It
 * finds what the one vector of a whole passage has averaged away.
 *
 * The weight of a word is the cosine of its vector and the question's, times its rarity among these
 * passages: a word that all of them hold, or another one that means the same, distinguishes none.
 */
export function createWordSimilarity(embed: Embed, lexicon: () => Lexicon | null) {
  const segmenter = new Intl.Segmenter('zh', { granularity: 'word' })
  const translated = createTranslations(lexicon)
  let vocabulary = new Map<string, number>()
  /** Of each row. */
  let stems: string[] = []
  let vectors = new Float32Array(0)
  const known = leastRecentlyUsed<PassageWords>(PASSAGE_WORDS_KEPT, wordCount)
  // A random seed, so that no tenant can construct a text whose hash equals that of another text.
  const seed = crypto.getRandomValues(new BigUint64Array(1))[0]

  function wordsOf(text: string, max: number): string[] {
    const words = new Set<string>()
    for (const { segment, isWordLike } of segmenter.segment(text.normalize('NFKC').toLowerCase())) {
      if (isWordLike) words.add(segment)
      if (words.size >= max) break
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
      stems.push(stem(fresh[i] as string))
    }
  }

  /** The words of each sentence, up to the greatest number of words of a passage. */
  function cut(text: string) {
    let left = PASSAGE_WORDS_MAX
    return sentencesOf(text).flatMap(({ from, to }) => {
      const words = left > 0 ? wordsOf(text.slice(from, to), left) : []
      left -= words.length
      return words.length > 0 ? [{ from, to, words }] : []
    })
  }

  async function passagesOf(texts: readonly string[]): Promise<PassageWords[]> {
    if (vocabulary.size > VOCABULARY_MAX) {
      vocabulary = new Map()
      stems = []
      known.clear()
    }
    const keys = texts.map((text) => `${Bun.hash(text, seed)}`)
    const found = keys.map((key) => known.get(key))
    const fresh = texts.map((text, i) => (found[i] ? [] : cut(text)))
    await learn([...new Set(fresh.flat().flatMap(({ words }) => words))])
    return texts.map((text, i) => {
      const own = found[i] ?? {
        sentences: (fresh[i] ?? []).map(({ from, to, words }) => {
          return { from, to, ids: Uint32Array.from(words, (word) => vocabulary.get(word) ?? 0) }
        }),
        titles: (fresh[i] ?? []).filter(({ to }) => to <= text.indexOf('\n') + 1).length,
      }
      known.put(keys[i] ?? '', own)
      return own
    })
  }

  return async function similarities(
    question: string,
    texts: readonly string[],
  ): Promise<WordSimilarity[]> {
    const questionWords = wordsOf(question, QUESTION_WORDS_MAX)
    if (questionWords.length === 0) return texts.map(() => NOTHING)
    const passages = await passagesOf(texts)
    const [whole, ...words] = await embed([question, ...questionWords])
    const similar = mostSimilar(words.map(beginning), passages, vectors)
    const held = similar.map((sentences) => greatest(sentences, words.length))
    const weights = words.map((vector, i) => {
      const inModel = Math.max(WEIGHT_MIN, dot(whole as Float32Array, vector))
      return inModel * rarity(texts.length, holding(held.map((own) => own[i] ?? 0)))
    })
    const total = weights.reduce((sum, weight) => sum + weight, 0)
    const share = (own: Float32Array) =>
      own.reduce((sum, x, i) => sum + x * (weights[i] ?? 0), 0) / total
    const stemsOf = ({ ids }: Sentence) => Array.from(ids, (id) => stems[id] ?? '')
    const inOther = translated(question, texts, (at) =>
      (passages[at]?.sentences ?? []).flatMap(stemsOf),
    )
    return passages.map((passage, at) => ({
      ...withBest(passage, (similar[at] ?? []).map(share), share(held[at] as Float32Array)),
      translated: inOther[at] ?? 0,
    }))
  }
}

const NOTHING: WordSimilarity = { whole: 0, translated: 0, at: null }

/** Chooses the best sentence: one of the title where there is no other. */
function withBest(
  { sentences, titles }: PassageWords,
  shares: readonly number[],
  whole: number,
): Omit<WordSimilarity, 'translated'> {
  const first = titles < sentences.length ? titles : 0
  const best = Math.max(0, ...shares.slice(first))
  const found = sentences[shares.indexOf(best, first)] ?? sentences[first]
  return { whole, at: found ? { from: found.from, to: found.to } : null }
}

const SENTENCE_END = /[。！？；!?;\n]+|\.(?=\s|$)/gu

function sentencesOf(text: string): { readonly from: number; readonly to: number }[] {
  const ends = [...text.matchAll(SENTENCE_END)].map(({ 0: end, index }) => index + end.length)
  return [...ends, text.length].map((to, i) => ({ from: ends[i - 1] ?? 0, to }))
}

const wordCount = ({ sentences }: PassageWords) =>
  sentences.reduce((sum, { ids }) => sum + ids.length, 0)

const beginning = (vector: Float32Array) => normalize(vector.slice(0, DIMENSIONS))

const rarity = (all: number, holding: number) =>
  Math.log(1 + (all - holding + 0.5) / (holding + 0.5))

/**
 * How many passages hold a word, or one that means the same, of which no similarity tells exactly:
 * about those of 0.5 and more.
 */
const holding = (similarities: readonly number[]) =>
  similarities.reduce((sum, x) => sum + 1 / (1 + Math.exp((0.5 - x) / 0.07)), 0)

function greatest(sentences: readonly Float32Array[], words: number): Float32Array {
  const best = new Float32Array(words)
  for (const own of sentences) {
    for (let i = 0; i < words; i++) best[i] = Math.max(best[i] as number, own[i] as number)
  }
  return best
}

/**
 * For each sentence of each passage and each word, the similarity of the most similar word. Reads
 * each row of the table once, because memory is slower than arithmetic.
 */
function mostSimilar(
  words: readonly Float32Array[],
  passages: readonly PassageWords[],
  table: Float32Array,
): Float32Array[][] {
  const similarities = new Float32Array((table.length / DIMENSIONS) * words.length)
  const isKnown = new Uint8Array(table.length / DIMENSIONS)
  const bestOf = ({ ids }: Sentence) => {
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
  }
  return passages.map(({ sentences }) => sentences.map(bestOf))
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
