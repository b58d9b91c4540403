import { lazy } from '../../../core/lazy.ts'
import { stem } from '../../../core/stem.ts'

/**
 * Terms of the word index. In scripts without blanks, such as Chinese, every pair of neighbouring
 * characters is a term. Other words are lower-cased and stemmed. Numbers and part numbers stay
 * exact, alone and together with the characters around them, so that 第36条 does not match 第367条.
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
/** Units of a question that are read after normalisation, which may expand a character to 18. */
const QUERY_UNITS_MAX = 4_000

/**
 * All terms of a text, repeated as often as they occur. A single character is found as the start of
 * a pair; only the last character of a run starts no pair and is a term of its own.
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

/** The distinct terms of a question. One that ends in `*` matches all terms with that prefix. */
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
  /** The term that joins it to the previous run, as 第36 and 36条 in 第36条; often empty. */
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

/** The term of a word, and of its parts around hyphens, dots and the like. */
function wordTerms(word: string): string[] {
  if (SIMPLE.test(word)) return [stem(word).slice(0, TERM_CHARS_MAX)]
  const plain = word.replace(POSSESSIVE, '')
  const parts = plain.split(JOINERS).filter(Boolean)
  const stems = parts.map((part) => stem(part.normalize('NFD').replace(MARKS, '')))
  const whole = plain === parts[0] ? [] : [plain]
  return [...whole, ...stems].map((term) => term.slice(0, TERM_CHARS_MAX))
}

/**
 * Function words and question words, as `Intl.Segmenter` cuts them. They say nothing of the
 * subject: a passage that answers a question need not have them, and one about another subject may.
 */
const CHINESE = `
  什么 怎么 怎样 怎么样 怎么办 如何 为什么 为何 何 何时 何地 何处 何人 何种 何年 何月 哪 哪些
  哪里 哪儿 哪个 哪位 哪种 哪天 哪年 哪家 谁 多少 多久 多长 多大 多高 多远 多 几 几个 几点 几天
  几年 吗 呢 吧 啊 么 请 请问 是否 能否 可否 有没有 能不能 可不可以 是不是 要不要 称 称为 叫
  叫做 叫作 名为 被称为 指 指的是 属于 的 了 是 在 于 和 与 及 或 由 被 把 对 从 到 为 以 有 个
  之 其 这 那 该 我 我们 你 你们 您 他 他们 她 它 会 要 能 可 可以 应该 都 也 还 就 而 中 等 所
  着 过 上 下 里`
const ENGLISH = `
  a an the of in on at to for from by with and or is are was were be been being am do does did
  done has have had what which who whom whose when where why how many much long often i you he
  she it we they me my your his her its our their this that these those there here can could
  will would shall should may might must not no if as about into than then so some any all name
  called`

export const stopWords = lazy(() => new Set(`${CHINESE} ${ENGLISH}`.trim().split(/\s+/)))
const segmenter = lazy(() => new Intl.Segmenter('zh', { granularity: 'word' }))
const LETTER = /[\p{L}\p{N}]/u

/**
 * The question with a blank in place of each such word; the question itself when it has no other
 * words.
 */
export function withoutStopWords(question: string): string {
  const known = stopWords()
  let rest = ''
  for (const { segment } of segmenter().segment(question)) {
    rest += known.has(segment.toLowerCase()) ? ' ' : segment
  }
  return LETTER.test(rest) ? rest : question
}
