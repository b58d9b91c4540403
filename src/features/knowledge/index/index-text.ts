import { firstChars } from '../../../core/text.ts'
import { findBoundaries, HEADING, isHeading, toPoints } from './boundaries.ts'

/**
 * The text of a chunk that is embedded and indexed, where its headings are not known: with the
 * title, because a chunk rarely names its subject.
 */
export const indexTextOf = ({ title, text }: { title: string; text: string }) => `${title}\n${text}`

/** No overlap of two chunks is longer, in UTF-16 units. */
const OVERLAP_UNITS_MAX = 512
/** Blanks between two paragraphs, in UTF-16 units. */
const GAP_UNITS_MAX = 40
/** A longer heading is cut: it is text rather than a heading. */
const HEADING_CHARS_MAX = 100

/**
 * The texts that are embedded and indexed for the chunks of a document, in order. Each has the
 * title and the headings above it. An overlap is left out where the new text begins a section or
 * paragraph, because then it completes no sentence. A chunk that begins a section has its heading
 * twice, which gives the heading more weight. Tuned with scripts/bench/retrieval.ts.
 */
export function indexTextsOf(title: string, chunks: readonly string[]): string[] {
  const parts = chunks.map((text, i) => ({ text, fresh: freshText(chunks[i - 1] ?? '', text) }))
  const headings = headingsOf(parts.map(({ fresh }) => fresh).join(''))
  const path: Heading[] = []
  let next = 0
  let end = 0
  return parts.map(({ text, fresh }, i) => {
    const start = end
    end += fresh.length
    const startsSection = headings[next]?.start === start
    if (startsSection) pushHeading(path, headings[next++] as Heading)
    const context = path.map((heading) => heading.text)
    for (; (headings[next]?.start ?? end) < end; next++)
      pushHeading(path, headings[next] as Heading)
    const isOwn = startsSection || endsParagraph(chunks[i - 1] ?? '')
    return [title, ...context, isOwn ? fresh : text].join('\n')
  })
}

/** Adds `heading` to the path and removes the headings of the sections that it ends. */
function pushHeading(path: Heading[], heading: Heading): void {
  while ((path.at(-1)?.level ?? 0) >= heading.level) path.pop()
  path.push({ ...heading, text: firstChars(heading.text, HEADING_CHARS_MAX) })
}

/**
 * A chunk as people and models read it: without the overlap when its new text begins a section or
 * paragraph. `before` is the previous chunk.
 */
export function ownText(before: string, text: string): string {
  const fresh = freshText(before, text)
  return isHeading(fresh) || endsParagraph(before) ? fresh : text
}

/** Whether a chunk ends with a blank line, within its last `GAP_UNITS_MAX`. */
const endsParagraph = (text: string) => /\n[ \t\r]*\n\s*$/.test(text.slice(-GAP_UNITS_MAX))

/** The text that a chunk adds to the previous one. */
export const freshText = (before: string, text: string): string =>
  text.slice(sharedUnits(before, text))

/** Length of the overlap: the end of `before` that `text` begins with. */
function sharedUnits(before: string, text: string): number {
  const end = before.slice(-Math.min(OVERLAP_UNITS_MAX, text.length))
  const first = text.charAt(0)
  for (let at = end.indexOf(first); at >= 0 && at < end.length; at = end.indexOf(first, at + 1)) {
    if (text.startsWith(end.slice(at))) return end.length - at
  }
  return 0
}

export interface Heading {
  /** In UTF-16 units. */
  readonly start: number
  /** 1 for the highest. */
  readonly level: number
  /** Without Markdown marks. For an article, whose text is in the same line, only its number. */
  readonly text: string
}

const OPENING = /^ {0,3}#{1,6}\s+/
const NUMBERED = /^\s*(第.+?([章节条篇部]))/
const LEVELS = '篇章节条'

/** The headings of a text in order, without lines of code blocks that look like headings. */
export function headingsOf(text: string): Heading[] {
  const points = toPoints(text)
  const { strength } = findBoundaries(points, 0)
  const headings: Heading[] = []
  for (let at = 0; at < points.length; at++) {
    const start = points.offsets[at] as number
    if (strength[at] !== HEADING && (at > 0 || !isHeading(text))) continue
    const end = text.indexOf('\n', start)
    headings.push({ start, ...parseHeading(text.slice(start, end < 0 ? text.length : end)) })
  }
  return headings
}

function parseHeading(line: string): Omit<Heading, 'start'> {
  const [, mark = '', kind = ''] = NUMBERED.exec(line) ?? []
  const level = kind === '部' ? 1 : LEVELS.indexOf(kind) + 1
  if (kind) return { level, text: kind === '条' ? mark : line.trim() }
  const depth = /#{1,6}/.exec(line)?.[0].length ?? 1
  return { level: depth, text: withoutMarks(line) }
}

/** Written by hand: a pattern for the closing marks takes quadratic time on mixed blanks. */
function withoutMarks(line: string): string {
  const text = line.replace(OPENING, '').trim()
  let end = text.length
  while (text[end - 1] === '#') end--
  const unmarked = text.slice(0, end)
  // Hashes close a heading only after a blank; those of C# belong to its text.
  return /\s/.test(unmarked.at(-1) ?? '') ? unmarked.trimEnd() : text
}
