import type { Piece } from './blocks.ts'

/** A line of text on a page; sizes and positions in points from the lower left. */
export interface Line {
  readonly text: string
  /** Left edge of its first and right edge of its last character. */
  readonly left: number
  readonly right: number
  readonly baseline: number
  /** Height of most of its characters. */
  readonly size: number
}

/** A short line is a heading when it is larger than the text by this factor. */
const HEADING_FACTOR = 1.15
const HEADING_CHARS_MAX = 100
/** Lines of a paragraph are at most this many sizes apart. */
const LEADING_MAX = 2
/** A line that ends this many sizes before its neighbours ends a paragraph. */
const SLACK = 3
/** Lines before and after a line by which the width of its column is estimated. */
const NEIGHBOURS = 12
/** A line at the edge of this many pages is a running head. */
const RUNNING_PAGES_MIN = 3

const CJK = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\u3000-\\u303f\\uff00-\\uffef'
const CJK_END = new RegExp(`[${CJK}“”‘’—…·]$`, 'u')
const CJK_START = new RegExp(`^[${CJK}“”‘’—…·]`, 'u')
const LIST_MARK =
  /^(?:[•◦▪■●○◆▶–—*-]\s|[(（]?(?:\d{1,3}|[a-zA-Z])[.)）、]\s?|[(（]?[一二三四五六七八九十]+[)）、])/

/** The paragraphs and headings of the pages of a document. Running heads are left out. */
export function* pdfPieces(pages: readonly (readonly Line[])[]): Generator<Piece> {
  const textSize = commonSize(pages.flat())
  const isRunning = runningHeads(pages)
  let heading: string | null = null
  for (const [index, all] of pages.entries()) {
    const isText = (line: Line, i: number) => !(isEdge(i, all.length) && isRunning(line))
    const lines = all.length < RUNNING_LINES_MIN ? all : all.filter(isText)
    for (const paragraph of paragraphs(lines)) {
      const texts = paragraph.map((line) => line.text)
      const isHeading = isLarge(paragraph, textSize) && isTitle(texts)
      const text = isHeading ? texts.reduce(joinLines) : texts.join('\n')
      if (isHeading) heading = text
      yield { text: isHeading ? `## ${text}` : text, page: index + 1, heading }
    }
  }
}

const isLarge = ([first]: readonly Line[], textSize: number) =>
  (first?.size ?? 0) > textSize * HEADING_FACTOR

function isTitle(texts: readonly string[]): boolean {
  const text = texts.join('')
  return text.length <= HEADING_CHARS_MAX && /\p{L}{2}/u.test(text)
}

/** The size of most characters. */
function commonSize(lines: readonly Line[]): number {
  const chars = new Map<number, number>()
  for (const { size, text } of lines) {
    const rounded = Math.round(size * 2) / 2
    chars.set(rounded, (chars.get(rounded) ?? 0) + text.length)
  }
  return [...chars].reduce((best, next) => (next[1] > best[1] ? next : best), [0, 0])[0]
}

const isEdge = (index: number, count: number) => index === 0 || index === count - 1

/** Pages with fewer lines have no running heads. */
const RUNNING_LINES_MIN = 3
/** A line with only the page number: 3, - 3 -, 3 / 10, Page 3 of 10. */
const PAGE_NUMBER = /^[\s·.–—|-]*(?:page\s*)?\d+(?:\s*(?:\/|of)\s*\d+)?[\s·.–—|-]*$/i
/** 第 3 页, 共 10 页 */
const CHINESE_NUMBER = /^[\s—-]*第\s*\d+\s*页(?:\s*[,，/]?\s*共\s*\d+\s*页)?[\s—-]*$/

/**
 * Finds running heads: lines at the edge of many pages that are the same on all, and page numbers.
 * Other lines that differ only in a number are text: they number chapters, clauses and forms.
 */
function runningHeads(pages: readonly (readonly Line[])[]): (line: Line) => boolean {
  const counts = new Map<string, number>()
  for (const lines of pages) {
    if (lines.length < RUNNING_LINES_MIN) continue
    const edges = lines.filter((_, i) => isEdge(i, lines.length))
    for (const text of new Set(edges.map(keyOf))) counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  return (line) => (counts.get(keyOf(line)) ?? 0) >= RUNNING_PAGES_MIN
}

/** A key that is the same for all page numbers, also after a title: 手册 3 / 10. */
const keyOf = ({ text }: Line) =>
  PAGE_NUMBER.test(text) || CHINESE_NUMBER.test(text) ? '' : text.replace(OF_TOTAL, '$1')

const OF_TOTAL = /\b\d+(\s*(?:\/|of|页\s*[,，/]?\s*共)\s*\d+(?:\s*页)?)$/i

/** Groups lines to paragraphs, with the lines of one sentence joined. */
function* paragraphs(lines: readonly Line[]): Generator<readonly Line[]> {
  let open: Line[] = []
  /** How many lines were joined to the last one of `open`. */
  let joined = 0
  for (const [index, line] of lines.entries()) {
    const last = open.at(-1)
    if (last && !isNextTo(last, line)) {
      yield open
      open = []
    }
    const goesOn = open.length > 0 && last && flowsOn(last, joined, line, lines, index)
    if (goesOn) open[open.length - 1] = { ...line, text: joinLines(last.text, line.text) }
    else open.push(line)
    joined = goesOn ? joined + 1 : 1
  }
  if (open.length > 0) yield open
}

/** Whether the line is directly below the previous one, in the same size. */
function isNextTo(last: Line, line: Line): boolean {
  const size = Math.max(last.size, line.size)
  const down = last.baseline - line.baseline
  return down > 0 && down <= size * LEADING_MAX && Math.abs(last.size - line.size) < size / 8
}

/** Whether the line at `index` continues the sentence of the `joined` lines before it. */
function flowsOn(
  last: Line,
  joined: number,
  line: Line,
  lines: readonly Line[],
  index: number,
): boolean {
  if (LIST_MARK.test(line.text)) return false
  // The first line of a paragraph is indented; that of a list item hangs out to the left.
  const isIndented = line.left > last.left + last.size / 2
  if (isIndented && !(joined === 1 && LIST_MARK.test(last.text))) return false
  return last.right > columnRight(lines, index - 1) - last.size * SLACK
}

/**
 * The right edge of the line's column: the largest or second largest right edge around the line
 * that another line shares, because one line may exceed the column. Infinite without a shared edge,
 * as in a table.
 */
function columnRight(lines: readonly Line[], index: number): number {
  const line = lines[index]
  if (!line) return 0
  const around = lines.slice(Math.max(0, index - NEIGHBOURS), index + NEIGHBOURS + 1)
  const column = around.filter(({ left, right }) => left < line.right && right > line.left)
  const ends = column.map(({ right }) => right).sort((a, b) => b - a)
  const shared = ends.find((end, i) => i < 2 && end - (ends[i + 1] ?? 0) < line.size)
  return shared ?? Number.POSITIVE_INFINITY
}

/** Chinese and Japanese have no space where a line breaks. A hyphen ends a divided word. */
function joinLines(text: string, next: string): string {
  if (/\p{L}-$/u.test(text) && /^\p{Ll}/u.test(next)) return text.slice(0, -1) + next
  if (CJK_END.test(text) && CJK_START.test(next)) return text + next
  return `${text} ${next}`
}
