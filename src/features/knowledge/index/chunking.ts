import { lazy } from '../../../core/lazy.ts'
import {
  type Boundaries,
  findBoundaries,
  HEADING,
  type Points,
  slice,
  toPoints,
} from './boundaries.ts'

/** Sizes in code points. */
const SIZE = 600
const OVERLAP = 100
/** An overlap may begin up to this much earlier or later, to begin with a sentence. */
const OVERLAP_SLACK = 40
/** The last chunk, and one that ends with a table or code block, may be this much over the size. */
const SIZE_SLACK = OVERLAP + OVERLAP_SLACK
/** Every chunk but the last brings at least this much new text. */
const NEW_MIN = 100
/**
 * A section of this size starts a chunk of its own. A vector describes the whole chunk, so a chunk
 * about two subjects would be found by neither.
 */
const SECTION_MIN = 60
/**
 * A document has about this many chunks at most, for their keys have room for 1,024: in a long one
 * of tiny sections a chunk holds several.
 */
const CHUNKS_MAX = 1_000
/** The value of a boundary of each strength, in code points of chunk length. */
const WORTH = [0, 120, 240, 360, 600, 900]
/** Longer graphemes may be cut; only hostile text has them. */
const GRAPHEME_CHARS_MAX = 64

/** Largest chunk that `chunk` returns, in code points. */
export const CHUNK_CHARS_MAX = SIZE + SIZE_SLACK

/**
 * Cuts a document into chunks, the pieces that are embedded and cited: slices of the text in order,
 * where each begins with the end of the one before (the overlap). Sections start chunks of their
 * own unless they are short, and pages always do. Other cuts fall at paragraphs and sentence ends
 * where there are any, never inside a grapheme. Tables and code blocks stay whole where they fit.
 * The same text always gives the same chunks, in time linear in its length.
 */
export const chunk = (text: string): string[] => cutChunks(text).map((one) => one.text)

export interface CutChunk {
  readonly text: string
  /** Where in the document its new text begins, after the overlap, in UTF-16 units. */
  readonly freshAt: number
}

/** As `chunk`, with the place of each. `pages`: where pages begin, in UTF-16 units, ascending. */
export function cutChunks(text: string, pages: readonly number[] = []): CutChunk[] {
  const points = toPoints(text)
  const boundaries = findBoundaries(points, SIZE)
  const cuts = { ...boundaries, isPage: pageStarts(points, pages), newMin: newMinOf(points) }
  const chunks: CutChunk[] = []
  let start = 0
  let covered = 0
  while (covered < points.length) {
    const end = findEnd(points, cuts, start, covered)
    const freshAt = points.offsets[covered] as number
    chunks.push({ text: slice(points, start, end), freshAt })
    // A short page would consist mostly of the overlap.
    const isShortPage = cuts.isPage[end] === 1 && end - covered < 2 * OVERLAP
    covered = end
    const overlap = isShortPage ? end : findOverlap(points, boundaries, end)
    start = overlap > start ? overlap : end
  }
  return chunks
}

/** Where a chunk may end, and how much new text it brings at least. */
interface Cuts extends Boundaries {
  /** 1 for each code point that begins a page. */
  readonly isPage: Uint8Array
  readonly newMin: number
}

function pageStarts({ offsets, length }: Points, pages: readonly number[]): Uint8Array {
  const isPage = new Uint8Array(length + 1)
  let next = 0
  for (let at = 0; at < length && next < pages.length; at++) {
    if ((offsets[at] ?? 0) < (pages[next] ?? 0)) continue
    isPage[at] = 1
    next++
  }
  return isPage
}

const newMinOf = ({ length }: Points) => Math.ceil(length / CHUNKS_MAX)

/** The end of the chunk from `start`: after `covered`, at most `CHUNK_CHARS_MAX` later. */
function findEnd(points: Points, cuts: Cuts, start: number, covered: number): number {
  const section = sectionEnd(points, cuts, start, covered)
  if (section !== null) return section
  if (points.length - start <= SIZE + OVERLAP_SLACK) return points.length
  const { strength, blockEnd, newMin } = cuts
  const block = blockEnd[start + SIZE] ?? 0
  if (block > 0 && strength[start + SIZE] === 0 && block - start <= CHUNK_CHARS_MAX) return block
  let best = 0
  let bestScore = 0
  for (let at = covered + Math.max(NEW_MIN, newMin); at <= start + SIZE; at++) {
    const level = strength[at] ?? 0
    const score = (WORTH[level] ?? 0) + at - start
    if (level > 0 && score > bestScore) [best, bestScore] = [at, score]
  }
  if (best > 0) return best
  const hard = graphemeStart(points, start + SIZE)
  return blockStart(blockEnd, covered + newMin, hard) ?? hard
}

/** The next page, or the first heading after enough text unless almost none follows it. */
function sectionEnd(
  points: Points,
  { strength, isPage, newMin }: Cuts,
  start: number,
  covered: number,
): number | null {
  const first = covered + Math.max(SECTION_MIN, newMin)
  const last = points.length - SECTION_MIN
  for (let at = covered + newMin; at <= start + SIZE; at++) {
    if (isPage[at] === 1) return at
    if (at >= first && at <= last && strength[at] === HEADING) return at
  }
  return null
}

/** The start of the block around `to`, when that is after `from`. */
function blockStart(blockEnd: Uint32Array, from: number, to: number): number | null {
  const end = blockEnd[to] ?? 0
  if (end === 0) return null
  let at = to
  while (at > from && blockEnd[at - 1] === end) at--
  return at > from ? at : null
}

/** The start of the chunk after `end`: a sentence that one chunk cuts is whole in the other. */
function findOverlap(points: Points, { strength }: Boundaries, end: number): number {
  const ideal = end - OVERLAP
  if (ideal <= 0) return 0
  let best = 0
  let bestScore = 0
  for (let at = ideal - OVERLAP_SLACK; at <= ideal + OVERLAP_SLACK; at++) {
    const level = strength[at] ?? 0
    const score = (WORTH[level] ?? 0) - Math.abs(at - ideal)
    if (level > 0 && score > bestScore) [best, bestScore] = [at, score]
  }
  return best > 0 ? best : graphemeStart(points, ideal)
}

const graphemes = lazy(() => new Intl.Segmenter('und', { granularity: 'grapheme' }))

/** The start of the grapheme (UAX 29) that the boundary before `at` would cut, or `at`. */
function graphemeStart(points: Points, at: number): number {
  const from = Math.max(0, at - GRAPHEME_CHARS_MAX)
  const before = slice(points, from, at)
  const after = slice(points, at, Math.min(points.length, at + 8))
  const segment = graphemes()
    .segment(before + after)
    .containing(before.length)
  if (!segment || segment.index === before.length || segment.index === 0) return at
  return from + [...before.slice(0, segment.index)].length
}
