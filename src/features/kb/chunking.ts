import { lazy } from '../../core/lazy.ts'
import {
  type Boundaries,
  findBoundaries,
  HEADING,
  type Points,
  slice,
  toPoints,
} from './boundaries.ts'

/** Sizes in code points (specification, Limits: about 600 a chunk, about 100 overlap). */
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
 * of two subjects would be found by neither.
 */
const SECTION_MIN = 60
/** The value of a boundary of each strength, in code points of chunk length. */
const WORTH = [0, 120, 240, 360, 600, 900]
/** Longer graphemes may be cut; only hostile text has them. */
const GRAPHEME_CHARS_MAX = 64

/** Largest chunk that `chunk` returns, in code points. */
export const CHUNK_CHARS_MAX = SIZE + SIZE_SLACK

/**
 * Cuts a document into chunks, the pieces that are embedded and cited: slices of the text in order,
 * where each begins with the end of the one before (the overlap). Sections start chunks of their
 * own unless they are short. Other cuts fall at paragraphs and sentence ends where there are any,
 * never inside a grapheme. Tables and code blocks stay whole where they fit. The same text always
 * gives the same chunks, in time linear in its length.
 */
export const chunk = (text: string): string[] => cutChunks(text).map((one) => one.text)

export interface CutChunk {
  readonly text: string
  /** Where in the document its new text begins, behind the overlap, in UTF-16 units. */
  readonly freshAt: number
}

/** As `chunk`, with the place of each. */
export function cutChunks(text: string): CutChunk[] {
  const points = toPoints(text)
  const boundaries = findBoundaries(points, SIZE)
  const chunks: CutChunk[] = []
  let start = 0
  let covered = 0
  while (covered < points.length) {
    const end = findEnd(points, boundaries, start, covered)
    const freshAt = points.offsets[covered] as number
    chunks.push({ text: slice(points, start, end), freshAt })
    covered = end
    start = Math.max(start + 1, findOverlap(points, boundaries, end))
  }
  return chunks
}

/** The end of the chunk from `start`: after `covered`, at most `CHUNK_CHARS_MAX` later. */
function findEnd(points: Points, boundaries: Boundaries, start: number, covered: number): number {
  const section = sectionEnd(points, boundaries, start, covered)
  if (section !== null) return section
  if (points.length - start <= SIZE + OVERLAP_SLACK) return points.length
  const { strength, blockEnd } = boundaries
  const block = blockEnd[start + SIZE] ?? 0
  if (block > 0 && strength[start + SIZE] === 0 && block - start <= CHUNK_CHARS_MAX) return block
  let best = 0
  let bestScore = 0
  for (let at = covered + NEW_MIN; at <= start + SIZE; at++) {
    const level = strength[at] ?? 0
    const score = (WORTH[level] ?? 0) + at - start
    if (level > 0 && score > bestScore) [best, bestScore] = [at, score]
  }
  if (best > 0) return best
  const hard = graphemeStart(points, start + SIZE)
  return blockStart(blockEnd, covered + 1, hard) ?? hard
}

/** The first heading after enough new text, unless almost no text follows it. */
function sectionEnd(
  points: Points,
  { strength }: Boundaries,
  start: number,
  covered: number,
): number | null {
  const last = Math.min(start + SIZE, points.length - SECTION_MIN)
  for (let at = covered + SECTION_MIN; at <= last; at++) if (strength[at] === HEADING) return at
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
