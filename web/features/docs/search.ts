import type { Token, Tokens } from 'marked'
import type { GuidePart } from './guide-parts.ts'

/** One searchable part of a manual page. */
export interface Entry<Page> {
  readonly page: Page
  readonly part: string
  /** The name of the page. */
  readonly name: string
  /** The heading of the part; empty before the first heading. */
  readonly heading: string
  readonly text: string
}

export interface Hit<Page> extends Entry<Page> {
  /** The text around the first match; every second piece is a match. */
  readonly excerpt: readonly string[]
}

const HITS_MAX = 12
const EXCERPT_CHARS = 140
/** Weights: a match in a heading counts more than in the page name, and that more than in text. */
const HEADING_WEIGHT = 4
const NAME_WEIGHT = 1
/** Shorter words match a heading without its spaces by accident; "backup" finds "Back up". */
const JOINED_CHARS_MIN = 5
/** Parts that cover less of the query are dropped. */
const SHARE_MIN = 0.5
/** Longer code blocks are whole programs, and are not searched. */
const CODE_CHARS_MAX = 2_000

function textOf(token: Token): string {
  const { type, text, tokens, items, header, rows } = token as Tokens.Generic
  if (type === 'code') return text.length > CODE_CHARS_MAX ? '' : text
  if (type === 'list') return items.map(textOf).join('\n')
  if (type === 'table') {
    const cells = [header, ...rows].flat() as Tokens.TableCell[]
    return cells.map((cell) => cell.tokens.map(textOf).join('')).join(' · ')
  }
  return tokens ? tokens.map(textOf).join('') : String(text ?? '')
}

export const entriesOf = <Page>(page: Page, name: string, parts: readonly GuidePart[]) =>
  parts.map(({ id, title, tokens }): Entry<Page> => {
    const text = tokens.map(textOf).join('\n').replace(/\s+/g, ' ').trim()
    return { page, part: id, name, heading: title ?? '', text }
  })

const WORDS = /\p{Script=Han}+|[^\p{Script=Han}\s,;:?!，。；：？！、"'“”()（）]+/gu

const COMMON =
  /^(a|an|and|are|can|do|does|for|get|how|i|in|is|it|make|my|of|the|to|what|where|why)$/

/** Search terms: Latin words unchanged, Chinese text as pairs of characters. */
function termsOf(query: string): string[] {
  const terms = [...query.toLowerCase().matchAll(WORDS)].flatMap(([word]) => {
    if (COMMON.test(word)) return []
    if (!/\p{Script=Han}/u.test(word) || word.length <= 2) return word
    return Array.from({ length: word.length - 1 }, (_, at) => word.slice(at, at + 2))
  })
  return [...new Set(terms)]
}

/** The score of a term in a part; 0 when the part lacks it. */
function saidOf(term: string, { name, heading, text }: Omit<Entry<unknown>, 'page' | 'part'>) {
  const has = (title: string) =>
    title.includes(term) ||
    (term.length >= JOINED_CHARS_MIN && title.replaceAll(' ', '').includes(term))
  const times = text.split(term).length - 1
  return (has(heading) ? HEADING_WEIGHT : 0) + (has(name) ? NAME_WEIGHT : 0) + Math.log(1 + times)
}

/** The parts that match most of `query`, with rare words weighted higher. */
export function search<Page>(entries: readonly Entry<Page>[], query: string): Hit<Page>[] {
  const lower = entries.map(({ name, heading, text }) => ({
    name: name.toLowerCase(),
    heading: heading.toLowerCase(),
    text: text.toLowerCase(),
  }))
  const weigh = (term: string) => {
    const said = lower.map((entry) => saidOf(term, entry))
    return { term, said, held: said.filter((much) => much > 0).length }
  }
  // A term in no part, such as a pair across two Chinese words, is ignored.
  const terms = termsOf(query)
    .map((word) => {
      const found = weigh(word)
      return found.held > 0 ? found : weigh(word.replace(/s$/, ''))
    })
    .filter(({ held }) => held > 0)
    .map((found) => ({ ...found, weight: Math.log(1 + entries.length / found.held) }))
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
  const enough = SHARE_MIN * sum(terms.map(({ weight }) => weight))
  return entries
    .map((entry, at) => {
      const share = sum(terms.map(({ said, weight }) => ((said[at] ?? 0) > 0 ? weight : 0)))
      const score = sum(terms.map(({ said, weight }) => weight * (said[at] ?? 0)))
      return { entry, share, score }
    })
    .filter(({ share }) => share > 0 && share >= enough)
    .sort((one, other) => other.score - one.score)
    .slice(0, HITS_MAX)
    .map(({ entry }) => ({ ...entry, excerpt: excerptOf(entry.text, terms) }))
}

function excerptOf(text: string, terms: readonly { readonly term: string }[]): string[] {
  const pattern = terms.map(({ term }) => term.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')
  const first = text.search(new RegExp(pattern, 'i'))
  const from = Math.max(0, first - EXCERPT_CHARS / 4)
  const to = from + EXCERPT_CHARS
  const shown = `${from > 0 ? '…' : ''}${text.slice(from, to)}${to < text.length ? '…' : ''}`
  return shown.split(new RegExp(`(${pattern})`, 'i'))
}
