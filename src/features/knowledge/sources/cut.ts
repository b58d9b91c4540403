import type { DocumentBlock } from '../../../upstream/ports/parser.ts'

export interface Block extends Omit<DocumentBlock, 'type'> {
  /** Whether a model has read its page from a picture. */
  readonly ocr?: true | undefined
}

/** The text of one document, and the places where its pages and headings begin. */
export interface Part {
  readonly text: string
  /** Null when no block has a page or heading. */
  readonly places: readonly Place[] | null
}

interface Place {
  readonly start: number
  readonly page: number | null
  readonly heading: string | null
  readonly ocr?: true
}

/** Between two blocks. */
const GAP = '\n\n'

/**
 * Cuts a text into parts of at most `bytesMax` bytes of UTF-8: at the end of a page, else before a
 * heading, else between two blocks, each of which fits.
 */
export function* cutParts(blocks: readonly Block[], bytesMax: number): Generator<Part> {
  for (let begin = 0; begin < blocks.length; ) {
    const end = endOfPart(blocks, begin, bytesMax)
    yield join(blocks.slice(begin, end))
    begin = end
  }
}

function endOfPart(blocks: readonly Block[], begin: number, bytesMax: number): number {
  let bytes = 0
  let page = 0
  let heading = 0
  for (let at = begin; at < blocks.length; at++) {
    const block = blocks[at] as Block
    const before = at > begin ? blocks[at - 1] : undefined
    if (before && before.page !== block.page) page = at
    else if (before && before.heading !== block.heading) heading = at
    bytes += (before ? GAP.length : 0) + Buffer.byteLength(block.text)
    if (bytes > bytesMax) return page || heading || at
  }
  return blocks.length
}

function join(blocks: readonly Block[]): Part {
  const places: Place[] = []
  let start = 0
  for (const { text, page, heading, ocr } of blocks) {
    const place = { start, page, heading }
    places.push(ocr ? { ...place, ocr } : place)
    start += text.length + GAP.length
  }
  const isKnown = places.some(({ page, heading }) => page !== null || heading !== null)
  return { text: blocks.map(({ text }) => text).join(GAP), places: isKnown ? places : null }
}

/** The block, cut into several when it is larger than a document may be. */
export function* fitting(block: Block, bytesMax: number): Generator<Block> {
  let text = block.text.trim().toWellFormed()
  while (Buffer.byteLength(text) > bytesMax) {
    const end = endOfPiece(text, bytesMax)
    const piece = text.slice(0, end).trimEnd()
    if (piece !== '') yield { ...block, text: piece }
    text = text.slice(end).trimStart()
  }
  if (text !== '') yield { ...block, text }
}

const SENTENCE_END = /[。！？；.!?;](?=[^。！？；.!?;]*$)/

/** The end of the last paragraph, else line, sentence or word that fits, in UTF-16 units. */
function endOfPiece(text: string, bytesMax: number): number {
  let bytes = 0
  let end = 0
  for (const char of text) {
    bytes += Buffer.byteLength(char)
    if (bytes > bytesMax) break
    end += char.length
  }
  const fits = text.slice(0, end)
  const ends = [fits.lastIndexOf('\n\n'), fits.lastIndexOf('\n'), fits.search(SENTENCE_END)]
  const last = [...ends, fits.lastIndexOf(' ')].find((at) => at >= end / 2)
  return last === undefined ? end : last + 1
}
