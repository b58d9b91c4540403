import { lazy } from '../../core/lazy.ts'

/**
 * Terms of the word index. Scripts without blanks, such as Chinese, give every pair of neighbouring
 * characters. Other words are lower-cased and stemmed. Numbers and part numbers stay exact, alone
 * and together with the characters around them, so that 第36条 is not 第367条.
 */

/** Scripts written without blanks between words. */
const SCRIPTS = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar']
const DENSE = `${SCRIPTS.map((name) => `\\p{sc=${name}}`).join('')}々〇ー`
const WORD = `[[\\p{L}\\p{N}]--[${DENSE}]]`
const token = lazy(
  () =>
    new RegExp(`(?<dense>[${DENSE}]+)|(?<word>${WORD}+(?:[\\-_.\\/+#:@'’&]${WORD}+)*[+#]*)`, 'gv'),
)
const JOINERS = /[^\p{L}\p{N}]+/u
const SIMPLE = /^[a-z0-9]+$/
const NUMBER = /^\d+$/
const POSSESSIVE = /['’]s$/
const MARKS = /\p{M}+/gu

const TERM_CHARS_MAX = 48
/** Only the first terms of a longer question are searched for. */
const QUERY_TERMS_MAX = 64
/** Of a question in its normal form, in which one character may become eighteen. */
const QUERY_UNITS_MAX = 4_000

/**
 * All terms of a text, repeated as often as they occur. A single character is found as the start of
 * a pair; only the last one of a run starts none and is a term of its own.
 */
export function termsOf(text: string): string[] {
  const terms: string[] = []
  const known = new Map<string, string[]>()
  for (const run of runsOf(text)) {
    if (run.dense) {
      terms.push(...pairs(run.chars), run.chars.at(-1) ?? '')
    } else {
      const found = known.get(run.text) ?? wordTerms(run.text)
      known.set(run.text, found)
      terms.push(...found)
    }
    if (run.joint) terms.push(run.joint)
  }
  return terms
}

/** The different terms of a question. One that ends in `*` matches all terms that begin so. */
export function queryTerms(text: string): string[] {
  const terms = new Set<string>()
  const runs = runsOf(text, QUERY_UNITS_MAX)
  for (const [i, run] of runs.entries()) {
    const joined = run.joint !== '' || (runs[i + 1]?.joint ?? '') !== ''
    for (const term of run.dense ? denseTerms(run.chars, joined) : wordTerms(run.text)) {
      terms.add(term)
    }
    if (run.joint) terms.add(run.joint)
    if (terms.size >= QUERY_TERMS_MAX) break
  }
  return [...terms].slice(0, QUERY_TERMS_MAX)
}

/** A single character matches every pair it starts, unless it belongs to a number beside it. */
function denseTerms(chars: readonly string[], joined: boolean): string[] {
  if (chars.length > 1) return pairs(chars)
  return joined ? [] : [`${chars[0]}*`]
}

interface Run {
  readonly text: string
  readonly dense: boolean
  readonly chars: readonly string[]
  /** The term across the border with the run before, as 第36 and 36条 in 第36条; often empty. */
  readonly joint: string
}

function runsOf(text: string, unitsMax = Infinity): Run[] {
  const normal = text.normalize('NFKC').toLowerCase().slice(0, unitsMax)
  const runs: Run[] = []
  let end = 0
  for (const match of normal.matchAll(token())) {
    const found = match[0]
    const before = match.index === end ? runs.at(-1) : undefined
    const dense = match.groups?.dense !== undefined
    const chars = dense ? [...found] : []
    runs.push({ text: found, dense, chars, joint: before ? jointOf(before, found, chars) : '' })
    end = match.index + found.length
  }
  return runs
}

function jointOf(before: Run, text: string, chars: readonly string[]): string {
  const last = before.chars.at(-1)
  if (last !== undefined) return last + text.slice(0, TERM_CHARS_MAX)
  return NUMBER.test(before.text) ? before.text.slice(0, TERM_CHARS_MAX) + (chars[0] ?? '') : ''
}

function pairs(chars: readonly string[]): string[] {
  const found: string[] = []
  for (let i = 1; i < chars.length; i++) found.push(`${chars[i - 1]}${chars[i]}`)
  return found
}

/** A word as written, and the parts of one with hyphens, dots and the like. */
function wordTerms(word: string): string[] {
  if (SIMPLE.test(word)) return [stem(word).slice(0, TERM_CHARS_MAX)]
  const plain = word.replace(POSSESSIVE, '')
  const parts = plain.split(JOINERS).filter(Boolean)
  const stems = parts.map((part) => stem(part.normalize('NFD').replace(MARKS, '')))
  const whole = plain === parts[0] ? [] : [plain]
  return [...whole, ...stems].map((term) => term.slice(0, TERM_CHARS_MAX))
}

/**
 * Removes the usual endings of English words, so that a question finds other forms of its words:
 * the first steps of Porter's algorithm (1980). Words of other languages in the same script may
 * lose an ending, too, in the same way in questions and documents. Stored indexes hold these stems:
 * to change them means to index every document again. All of Porter's steps found no more in the
 * question sets.
 */
export function stem(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word
  return finish(past(plural(word)))
}

const VOWEL = /[aeiouy]/

function plural(word: string): string {
  if (word.endsWith('sses')) return word.slice(0, -2)
  if (word.endsWith('ies')) return word.length > 4 ? `${word.slice(0, -3)}y` : word.slice(0, -1)
  if (/[^su]s$/.test(word)) return word.slice(0, -1)
  return word
}

function past(word: string): string {
  const ending = /(?:ed|ing)$/.exec(word)?.[0]
  if (!ending) return word
  const rest = word.slice(0, -ending.length)
  if (rest.length < 3 || !VOWEL.test(rest)) return word
  if (/([^aeiouylsz])\1$/.test(rest)) return rest.slice(0, -1)
  return rest
}

/** Without the last e, `make` and `making` have one stem; with i for y, `happy` and `happily`. */
function finish(word: string): string {
  if (word.length > 4 && word.endsWith('ly')) return finish(word.slice(0, -2))
  if (word.length > 3 && word.endsWith('e')) return word.slice(0, -1)
  return word.length > 3 && word.endsWith('y') ? `${word.slice(0, -1)}i` : word
}
