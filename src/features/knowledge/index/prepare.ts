import type { Clock } from '../../../core/clock.ts'
import { KB_HEADING_CHARS_MAX } from '../../../core/limits/contract.ts'
import { charCount, firstChars } from '../../../core/text.ts'
import { timeSlice } from '../../../core/time-slice.ts'
import { cutChunks } from './chunking.ts'
import type { LiveEmbedding } from './embedding.ts'
import { headingsOf, indexTextsOf } from './index-text.ts'
import type { NewChunk } from './store.ts'

/** Page and heading of the text from `start` on, in UTF-16 units, up to the next place. */
export interface Place {
  readonly start: number
  readonly page: number | null
  readonly heading: string | null
  /** Whether a model has read its page from a picture. */
  readonly ocr?: true | undefined
}

export interface DocText {
  readonly title: string
  readonly text: string
  /** In order; null when the headings of the text are to be used. */
  readonly places: readonly Place[] | null
}

export interface PreparedDoc {
  readonly charCount: number
  readonly chunks: readonly NewChunk[]
  /** `Embedder.id` of the model of their vectors. */
  readonly model: string
}

export interface PrepareParts {
  readonly embedding: LiveEmbedding
  readonly clock: Pick<Clock, 'steady'>
}

/** A chunk before it is indexed. */
export type PlainChunk = Pick<NewChunk, 'text' | 'page' | 'heading' | 'ocr'>

/** The chunks of a document, with the page and the heading at which each begins. */
export function chunksOf({ text, places }: Omit<DocText, 'title'>): PlainChunk[] {
  const placeAt = placesIn(places ?? headingPlaces(text))
  return cutChunks(text, pagesIn(places ?? [])).map((one) => ({
    text: one.text,
    ...placeAt(one.freshAt),
  }))
}

/** Cuts a document into chunks and embeds them. Rejects as the embedder does. */
export function createPrepare({ embedding, clock }: PrepareParts) {
  return async function prepare(
    tenantId: string,
    { title, text, places }: DocText,
    signal?: AbortSignal,
  ): Promise<PreparedDoc> {
    const slice = timeSlice(clock.steady)
    const plain = chunksOf({ text, places })
    if (slice.isOver()) await slice.next()
    const texts = plain.map((one) => one.text)
    const embedder = embedding.current.shared
    const indexTexts = indexTextsOf(title, texts)
    const { model, indexed } = await embedder.indexChunks(tenantId, indexTexts, signal)
    const chunks = plain.map((chunk, seq) => {
      const index = indexed[seq] as (typeof indexed)[number]
      return { ...index, ...chunk }
    })
    return { charCount: charCount(text), chunks, model }
  }
}

export type Prepare = ReturnType<typeof createPrepare>

const headingPlaces = (text: string): Place[] =>
  headingsOf(text).map(({ start, text: heading }) => ({ start, page: null, heading }))

/** The start of each page except the first. */
const pagesIn = (places: readonly Place[]): number[] =>
  places.flatMap(({ start, page }, i) => (i > 0 && page !== places[i - 1]?.page ? [start] : []))

/** The page and heading at a position; to be asked in ascending order. */
function placesIn(places: readonly Place[]) {
  let next = 0
  return (at: number) => {
    while ((places[next]?.start ?? Infinity) <= at) next++
    const { page = null, heading = null, ocr } = places[next - 1] ?? {}
    const place = { page, heading: heading && firstChars(heading, KB_HEADING_CHARS_MAX) }
    return ocr ? { ...place, ocr } : place
  }
}
