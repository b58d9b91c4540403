import type { Token, Tokens } from 'marked'
import type { GuidePart } from './guide.ts'

/** A part of a page of the manual as it is searched. */
export interface Entry<Page> {
  readonly page: Page
  readonly part: string
  readonly title: string
  readonly text: string
}

export interface Hit<Page> extends Entry<Page> {
  /** The text around the first word that was found; every second piece was searched for. */
  readonly excerpt: readonly string[]
}

const HITS_MAX = 12
const EXCERPT_CHARS = 140
/** A word in a heading says more than one in the text. */
const TITLE_WEIGHT = 4
/** Parts that hold less of the question than this are about something else. */
const SHARE_MIN = 0.5
/** Longer code is a whole program: nobody looks for one of its lines here. */
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
    return { page, part: id, title: title === null ? name : `${name}: ${title}`, text }
  })

const WORDS = /\p{Script=Han}+|[^\p{Script=Han}\s,;:?!，。；：？！、"'“”()（）]+/gu

const COMMON =
  /^(a|an|and|are|can|do|does|for|get|how|i|in|is|it|make|my|of|the|to|what|where|why)$/

/** What is looked for: Latin words as they are, Chinese ones by pairs of characters. */
export function termsOf(query: string): string[] {
  const terms = [...query.toLowerCase().matchAll(WORDS)].flatMap(([word]) => {
    if (COMMON.test(word)) return []
    if (!/\p{Script=Han}/u.test(word) || word.length <= 2) return word
    return Array.from({ length: word.length - 1 }, (_, at) => word.slice(at, at + 2))
  })
  return [...new Set(terms)]
}

/** The parts that hold most of the words of `query`, weighed by how rare each word is. */
export function search<Page>(entries: readonly Entry<Page>[], query: string): Hit<Page>[] {
  const lower = entries.map((entry) => ({
    entry,
    title: entry.title.toLowerCase(),
    text: entry.text.toLowerCase(),
  }))
  const holders = (term: string) =>
    lower.filter(({ title, text }) => title.includes(term) || text.includes(term)).length
  // What nothing holds, such as a pair of characters across two words, cannot tell parts apart.
  const terms = termsOf(query).flatMap((word) => {
    const term = holders(word) > 0 ? word : word.replace(/s$/, '')
    const held = holders(term)
    return held === 0 ? [] : { term, weight: Math.log(1 + entries.length / held) }
  })
  const sum = (weights: readonly number[]) => weights.reduce((total, weight) => total + weight, 0)
  const enough = SHARE_MIN * sum(terms.map(({ weight }) => weight))
  return lower
    .map(({ entry, title, text }) => {
      const titled = terms.filter(({ term }) => title.includes(term))
      const held = terms.filter(({ term }) => title.includes(term) || text.includes(term))
      const share = sum(held.map(({ weight }) => weight))
      return { entry, share, score: share + TITLE_WEIGHT * sum(titled.map((it) => it.weight)) }
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
