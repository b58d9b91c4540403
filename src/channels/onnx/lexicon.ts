import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stem } from '../../core/stem.ts'
import { fewestPieces } from './fewest-pieces.ts'

/** A word of a question, and how a text in the other script may say it. */
export interface Concept {
  /** Chinese words, and stems of others. */
  readonly words: readonly string[]
  /** A name in Latin letters as it is written in Chinese characters. */
  readonly name: RegExp | null
  readonly weight: number
}

export interface Lexicon {
  conceptsOf(question: string): Concept[]
}

/** Concepts of one question, which are bits of a number. */
const CONCEPTS_MAX = 30
/** Only the beginning of a longer question is read. */
const QUESTION_UNITS_MAX = 1_000
const CHINESE_UNITS_MAX = 8
const SYLLABLE_UNITS_MAX = 6
const NAME_WORDS_MAX = 3
/** A single character is often a part of a name or of a word that the lexicon lacks. */
const SINGLE_WEIGHT = 0.35

const FILE = 'lexicon.gz'

/**
 * The lexicon in the folder of a model, null when it has none. A line starts with a Chinese word
 * and has its English ones, or with a syllable of pinyin and has the characters that are read so.
 */
export function readLexicon(dir: string): Lexicon | null {
  const path = join(dir, FILE)
  if (!existsSync(path)) return null
  /** The English words of each Chinese one, as they are in the line: they are seldom needed. */
  const english = new Map<string, string>()
  const chinese = new Map<string, string[]>()
  const characters = new Map<string, string>()
  const stems = new Map<string, string>()
  for (const line of new TextDecoder().decode(Bun.gunzipSync(readFileSync(path))).split('\n')) {
    const end = line.includes(' ') ? line.indexOf(' ') : line.length
    const first = line.slice(0, end)
    const rest = line.slice(end + 1)
    if (LATIN.test(first)) {
      characters.set(first, rest)
      continue
    }
    english.set(first, rest)
    for (const word of rest ? rest.split(' ') : []) {
      const one = stems.get(word) ?? stem(word)
      stems.set(word, one)
      const known = chinese.get(one)
      if (!known) chinese.set(one, [first])
      else if (known.at(-1) !== first) known.push(first)
    }
  }

  function chineseConcepts(run: string): Concept[] {
    return fewestPieces(run, (piece) => english.has(piece), CHINESE_UNITS_MAX).flatMap((word) => {
      const words = english.get(word)
      if (!words) return []
      const weight = word.length === 1 ? SINGLE_WEIGHT : 1
      return [{ words: [...new Set(words.split(' ').map(stem))], name: null, weight }]
    })
  }

  function syllablesOf(word: string): readonly string[] {
    const pieces = fewestPieces(word, (piece) => characters.has(piece), SYLLABLE_UNITS_MAX)
    return pieces.every((piece) => characters.has(piece)) ? pieces : []
  }

  /** Words that follow each other and read as a Chinese name; one of them is no English word. */
  function nameOf(words: readonly string[]): { name: RegExp | null; used: number } {
    const read = words.slice(0, NAME_WORDS_MAX).map(syllablesOf)
    const end = read.findIndex((syllables) => syllables.length === 0)
    const used = end < 0 ? read.length : end
    const syllables = read.slice(0, used).flat()
    const isName = words.slice(0, used).some((word) => !chinese.has(stem(word)))
    if (!isName || syllables.length < 2) return { name: null, used: 1 }
    const classes = syllables.map((one) => `[${characters.get(one)}]`)
    return { name: new RegExp(classes.join(''), 'u'), used }
  }

  function latinConcept(words: readonly string[]): { concept: Concept; used: number } {
    const [own = ''] = words.map(stem)
    const { name, used } = nameOf(words)
    return { concept: { words: [own, ...(chinese.get(own) ?? [])], name, weight: 1 }, used }
  }

  return {
    conceptsOf(question) {
      const concepts: Concept[] = []
      const beginning = question.slice(0, QUESTION_UNITS_MAX)
      const runs = beginning.normalize('NFKC').toLowerCase().match(RUN) ?? []
      for (let at = 0; at < runs.length && concepts.length < CONCEPTS_MAX; ) {
        const run = runs[at] ?? ''
        if (HAN.test(run)) {
          concepts.push(...chineseConcepts(run))
          at++
          continue
        }
        const end = runs.findIndex((one, i) => i > at && HAN.test(one))
        const { concept, used } = latinConcept(runs.slice(at, end < 0 ? undefined : end))
        concepts.push(concept)
        at += used
      }
      return concepts.slice(0, CONCEPTS_MAX)
    },
  }
}

const LATIN = /^[a-z]+$/
const HAN = /^\p{sc=Han}/u
const RUN = /\p{sc=Han}+|[[\p{L}\p{N}]--\p{sc=Han}]+/gv
