/**
 * Possible cut positions of a text with a strength; higher is better. Positions count code points;
 * a boundary at `i` lies before the code point `i`.
 */
const SPACE = 1
const LINE = 2
const SENTENCE = 3
const PARAGRAPH = 4
export const HEADING = 5

export interface Boundaries {
  /** Strength of the boundary before each code point, 0 for none; one longer than the text. */
  readonly strength: Uint8Array
  /** For each code point, the end of the table or code block around it that is kept whole, or 0. */
  readonly blockEnd: Uint32Array
}

/** A text by code points, the unit of all sizes and positions in the API. */
export interface Points {
  readonly text: string
  readonly length: number
  readonly codes: Uint32Array
  /** Start of each code point, and the end of the text, in UTF-16 units. */
  readonly offsets: Uint32Array
}

/** Takes time and memory linear in the length of the text. */
export function toPoints(text: string): Points {
  const codes = new Uint32Array(text.length)
  const offsets = new Uint32Array(text.length + 1)
  let length = 0
  for (let unit = 0; unit < text.length; length++) {
    const code = text.codePointAt(unit) as number
    codes[length] = code
    offsets[length] = unit
    unit += code > 0xffff ? 2 : 1
  }
  offsets[length] = text.length
  return { text, length, codes, offsets }
}

/** The text from code point `start` up to, but without, the one at `end`. */
export function slice({ text, offsets }: Points, start: number, end: number): string {
  return text.slice(offsets[start], offsets[end])
}

interface Line {
  readonly start: number
  /** After the line feed. */
  readonly end: number
  readonly text: string
}

/**
 * Properties of a character, one bit each; kept in a table, because each character is looked up.
 */
const ENDER = 1
const CLOSER = 2
const CLAUSE = 4
const BLANK = 8
const KINDS = kinds([
  ['。！？；…!?;｡', ENDER],
  ['”’」』）】》〉)]"\'', CLOSER],
  ['，、：,:', CLAUSE],
  [' \t\r\n\u00a0\u3000', BLANK],
])
const FULL_STOP = 0x2e
const LINE_FEED = 0x0a

function kinds(groups: readonly [string, number][]): Uint8Array {
  const table = new Uint8Array(0x10000)
  for (const [chars, kind] of groups) for (const char of chars) table[char.charCodeAt(0)] = kind
  return table
}

const HEADING_LINE = /^ {0,3}#{1,6}\s|^\s{0,3}第[\d一二三四五六七八九十百千零〇两]+[章节条篇部]/
const LIST_LINE = /^\s*(?:[-*+•]|\d+[.)、]|[（(][\d一二三四五六七八九十]+[)）])\s?/
const FENCE_LINE = /^ {0,3}(`{3,}|~{3,})/
const TABLE_LINE = /^\s*\|.*\S/

/** Whether the first line of the text is a heading. */
export const isHeading = (text: string) => HEADING_LINE.test(text)

/** Tables and code blocks of up to `wholeMax` code points are never cut inside. */
export function findBoundaries(points: Points, wholeMax: number): Boundaries {
  const strength = new Uint8Array(points.length + 1)
  const blockEnd = new Uint32Array(points.length)
  markSentences(points, strength)
  const lines = splitLines(points)
  markLines(lines, strength)
  for (const block of findBlocks(lines)) {
    const [start, end] = [block[0]?.start ?? 0, block.at(-1)?.end ?? 0]
    strength.fill(0, start + 1, end)
    if (end - start <= wholeMax) blockEnd.fill(end, start, end)
    else for (const line of block) raise(strength, line.start, SENTENCE)
    raise(strength, start, PARAGRAPH)
    raise(strength, end, PARAGRAPH)
  }
  strength[0] = 0
  return { strength, blockEnd }
}

function raise(strength: Uint8Array, at: number, level: number): void {
  if ((strength[at] ?? 0) < level) strength[at] = level
}

/** Marks ends of sentences, after closing quotes and blanks, and ends of clauses and words. */
function markSentences({ codes, length }: Points, strength: Uint8Array): void {
  const kind = (i: number) => KINDS[codes[i] ?? 0] ?? 0
  for (let i = 0; i < length; i++) {
    // A full stop counts only before a blank or closing quote: not in numbers and addresses.
    const stop =
      codes[i] === FULL_STOP && (i + 1 === length || (kind(i + 1) & (BLANK | CLOSER)) > 0)
    const ends = stop || kind(i) === ENDER
    if (!ends && (kind(i) & (CLAUSE | BLANK)) === 0) continue
    let next = i + 1
    if (ends) while (next < length && (kind(next) & (ENDER | CLOSER)) > 0) next++
    while (next < length && kind(next) === BLANK) next++
    raise(strength, next, ends ? SENTENCE : SPACE)
    i = next - 1
  }
}

function splitLines(points: Points): Line[] {
  const lines: Line[] = []
  for (let start = 0; start < points.length; ) {
    const feed = points.codes.indexOf(LINE_FEED, start)
    const end = feed === -1 || feed >= points.length ? points.length : feed + 1
    lines.push({ start, end, text: slice(points, start, end) })
    start = end
  }
  return lines
}

function markLines(lines: readonly Line[], strength: Uint8Array): void {
  let afterBlank = false
  for (const { start, text } of lines) {
    const blank = text.trim() === ''
    if (!blank) {
      if (isHeading(text)) raise(strength, start, HEADING)
      else if (afterBlank) raise(strength, start, PARAGRAPH)
      else raise(strength, start, LIST_LINE.test(text) ? SENTENCE : LINE)
    }
    afterBlank = blank
  }
}

/** Finds fenced code blocks, and Markdown tables of at least two lines. */
function findBlocks(lines: readonly Line[]): (readonly Line[])[] {
  const blocks: (readonly Line[])[] = []
  for (let i = 0; i < lines.length; ) {
    const until = fenceEnd(lines, i) ?? tableEnd(lines, i)
    if (until === null) {
      i++
      continue
    }
    blocks.push(lines.slice(i, until))
    i = until
  }
  return blocks
}

/** The line after the block that opens at line `from`; an unclosed block ends with the text. */
function fenceEnd(lines: readonly Line[], from: number): number | null {
  const fence = FENCE_LINE.exec(lines[from]?.text ?? '')?.[1]
  if (!fence) return null
  for (let i = from + 1; i < lines.length; i++) {
    const text = lines[i]?.text.trim() ?? ''
    if (text.startsWith(fence) && text.replaceAll(fence.charAt(0), '') === '') return i + 1
  }
  return lines.length
}

function tableEnd(lines: readonly Line[], from: number): number | null {
  let i = from
  while (i < lines.length && TABLE_LINE.test(lines[i]?.text ?? '')) i++
  return i - from >= 2 ? i : null
}
