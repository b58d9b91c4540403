// Writes the lexicon of the shipped model, models/default/lexicon.gz. See --help.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadModel } from '../src/channels/onnx/model.ts'
import { normalize } from '../src/core/vector.ts'
import { stopWords } from '../src/features/knowledge/search/terms.ts'
import { readings } from './lexicon/readings.ts'
import { readArguments, runScript, UsageError } from './usage.ts'

const HELP = `Pairs each Chinese word with the English words that are nearest to it among all, by
the vectors of models/default. Words that say nothing are listed without any, and each syllable
of pinyin has its characters.

  bun scripts/lexicon.ts WORDS

WORDS is the dictionary of jieba: dict.txt of the npm package @node-rs/jieba. Takes some minutes.
`

const MODEL = join(import.meta.dir, '../models/default')
/** The first dimensions bridge languages. */
const DIMENSIONS = 256
const WORDS_MAX = 60_000
const HAN = /^\p{Script=Han}+$/u
/** Both words of a pair are among the nearest of the other one, and this near. */
const ENGLISH_MAX = 5
const CHINESE_MAX = 30
const COSINE_MIN = 0.3

interface Pair {
  readonly chinese: number
  readonly english: number
  readonly cosine: number
}

/** The most frequent words, and each character that the model knows. */
function chineseWords(dictionary: string, tokens: readonly string[]): string[] {
  const words = dictionary
    .trim()
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([word = '']) => HAN.test(word) && word.length >= 2 && word.length <= 6)
    .toSorted((a, b) => Number(b[1]) - Number(a[1]))
    .slice(0, WORDS_MAX)
    .map(([word = '']) => word)
  return [...words, ...tokens.filter((token) => token.length === 1 && HAN.test(token))]
}

async function vectorsOf(words: readonly string[]): Promise<Float32Array> {
  const model = await loadModel(MODEL)
  const all = new Float32Array(words.length * DIMENSIONS)
  for (let from = 0; from < words.length; from += 512) {
    const { vectors } = await model.embed(words.slice(from, from + 512), 'passage')
    for (const [i, vector] of vectors.entries()) {
      all.set(normalize(vector.slice(0, DIMENSIONS)), (from + i) * DIMENSIONS)
    }
  }
  return all
}

/** Four sums, which a processor computes side by side. */
function dotAt(a: Float32Array, atA: number, b: Float32Array, atB: number): number {
  const sums = [0, 0, 0, 0] as [number, number, number, number]
  for (let d = 0; d < DIMENSIONS; d += 4) {
    sums[0] += (a[atA + d] as number) * (b[atB + d] as number)
    sums[1] += (a[atA + d + 1] as number) * (b[atB + d + 1] as number)
    sums[2] += (a[atA + d + 2] as number) * (b[atB + d + 2] as number)
    sums[3] += (a[atA + d + 3] as number) * (b[atB + d + 3] as number)
  }
  return sums[0] + sums[1] + sums[2] + sums[3]
}

/** All pairs that are near enough. */
function nearPairs(chinese: Float32Array, english: Float32Array): Pair[] {
  const pairs: Pair[] = []
  for (let c = 0; c < chinese.length; c += DIMENSIONS) {
    for (let e = 0; e < english.length; e += DIMENSIONS) {
      const cosine = dotAt(chinese, c, english, e)
      if (cosine < COSINE_MIN) continue
      pairs.push({ chinese: c / DIMENSIONS, english: e / DIMENSIONS, cosine })
    }
  }
  return pairs.sort((a, b) => b.cosine - a.cosine)
}

/** The pairs of which each word is among the nearest of the other one, by the Chinese word. */
function mutual(pairs: readonly Pair[]): Map<number, number[]> {
  const ofChinese = new Map<number, number>()
  const ofEnglish = new Map<number, number>()
  const kept = new Map<number, number[]>()
  const next = (counts: Map<number, number>, word: number) => {
    const count = (counts.get(word) ?? 0) + 1
    counts.set(word, count)
    return count
  }
  for (const { chinese, english } of pairs) {
    const rank = next(ofChinese, chinese)
    const back = next(ofEnglish, english)
    if (rank > ENGLISH_MAX || back > CHINESE_MAX) continue
    kept.set(chinese, [...(kept.get(chinese) ?? []), english])
  }
  return kept
}

await runScript(HELP, async (args) => {
  const { positionals } = readArguments({ args, allowPositionals: true })
  const [path] = positionals
  if (!path) throw new UsageError('name the dictionary')
  const { model } = JSON.parse(readFileSync(join(MODEL, 'tokenizer.json'), 'utf8'))
  const tokens = Object.keys(model.vocab)
  const empty = stopWords()
  const english = tokens.filter((token) => /^[a-z]{3,}$/.test(token) && !empty.has(token))
  const chinese = chineseWords(readFileSync(path, 'utf8'), tokens)
  const kept = mutual(nearPairs(await vectorsOf(chinese), await vectorsOf(english)))
  const lines = [...empty].filter((word) => HAN.test(word))
  for (const [at, meant] of kept) {
    const word = chinese[at] ?? ''
    if (!empty.has(word)) lines.push([word, ...meant.map((one) => english[one])].join(' '))
  }
  for (const [syllable, chars] of readings()) lines.push(`${syllable} ${chars}`)
  writeFileSync(join(MODEL, 'lexicon.gz'), Bun.gzipSync(lines.toSorted().join('\n'), { level: 9 }))
  process.stdout.write(`${lines.length} words\n`)
})
