import type { Clock } from '../../../core/clock.ts'
import { appError } from '../../../core/errors.ts'
import { KB_QUERY_MS_MAX, KB_QUERY_WAIT_MS_MAX } from '../../../core/limits/machine.ts'
import { createSemaphore, type Semaphore } from '../../../core/semaphore.ts'
import { cutText, groupTexts } from '../../../core/text.ts'
import { type TimeSlice, timeSlice } from '../../../core/time-slice.ts'
import { joinParts } from '../../../core/vector.ts'
import type { Embedder, EmbedKind, WordSimilarity } from '../../../upstream/ports/embedder.ts'
import { ChannelFailure, openAiCodeOf } from '../../../upstream/ports/failure.ts'
import { termsOf } from '../search/terms.ts'

/** Simultaneous calls to an embedder without `atOnce`. */
const AT_ONCE = { query: 64, passage: 8 }
/** Texts of one call. When tenants take turns, a document advances by this many chunks a turn. */
const CALL_TEXTS = 8
/** The same for texts of a client, which may be short or long. */
const CALL_TEXTS_MAX = 32
const CALL_UNITS_MAX = 6_000

/** The entries of a chunk in both indexes. */
export interface ChunkIndex {
  readonly vector: Float32Array
  readonly terms: readonly string[]
}

/** The entries of a document, with `Embedder.id` of their model. */
export interface DocIndex {
  readonly model: string
  readonly indexed: readonly ChunkIndex[]
}

export type SharedEmbedder = ReturnType<typeof createSharedEmbedder>

/** The embedder in use; a piece of work reads it once and keeps it. */
export interface LiveEmbedding {
  readonly current: { readonly shared: SharedEmbedder }
}

/**
 * The embedder, shared by all tenants. Tenants take turns, with one queue for searches and one for
 * documents. A tenant that is alone uses all of it.
 */
export function createSharedEmbedder(embedder: Embedder, clock: Clock) {
  const slots = embedder.atOnce ?? AT_ONCE
  const searches = createSemaphore({ slots: slots.query })
  const documents = createSemaphore({ slots: slots.passage })

  const embed = completeEmbed(embedder)
  const identity = createIdentity(embedder)

  const embedGroups = createEmbedGroups(documents, embed)
  const inTime = createInTime(searches, clock)

  return {
    name: embedder.name,

    ...identity,

    /** The score of a cosine on the scale that people see. */
    score: (cosine: number, question: string, text: string): number =>
      embedder.score ? embedder.score(cosine, question, text) : cosine,

    embedForSearch: (
      tenantId: string,
      texts: readonly string[],
      kind: EmbedKind,
      signal?: AbortSignal,
    ): Promise<Float32Array[]> => inTime(tenantId, (until) => embed(texts, kind, until), signal),

    /** Whether it has `wordSimilarities`; then it is the shipped model or one on its scale. */
    hasWords: embedder.wordSimilarities !== undefined,

    /** Null when the embedder has no `wordSimilarities`. */
    async wordSimilarities(
      tenantId: string,
      question: string,
      texts: readonly string[],
      signal?: AbortSignal,
    ): Promise<readonly WordSimilarity[] | null> {
      const compare = embedder.wordSimilarities
      if (!compare) return null
      return await inTime(tenantId, (until) => compare(question, texts, until), signal)
    },

    /**
     * Unit vectors of texts of a client, and how many tokens the model read. Throws a 502 when it
     * fails.
     */
    async embedTexts(
      tenantId: string,
      texts: readonly string[],
      kind: EmbedKind,
      signal: AbortSignal,
    ): Promise<{ vectors: Float32Array[]; tokens: number }> {
      const cut = texts.map((text) => cutText(text, embedder.lengthMax))
      const groups = groupTexts(cut.flat(), CALL_TEXTS_MAX, CALL_UNITS_MAX)
      let tokens = 0
      const count = (read: number) => {
        tokens += read
      }
      const vectors = await orUnavailable(embedGroups(tenantId, groups, kind, signal, count))
      return { vectors: joined(cut, vectors), tokens }
    },

    /**
     * Index entries of a document's chunks, all by the same model; its calls run side by side.
     */
    async indexChunks(
      tenantId: string,
      texts: readonly string[],
      signal?: AbortSignal,
    ): Promise<DocIndex> {
      const groups = groupTexts(texts, CALL_TEXTS, Infinity)
      const model = await identity.identify(signal)
      const vectors = await embedGroups(tenantId, groups, 'passage', signal)
      if ((await identity.identify(signal)) !== model) {
        throw new ChannelFailure('provider_error', 'the model was changed meanwhile')
      }
      return { model, indexed: await withTerms(texts, vectors, timeSlice(clock.steady)) }
    },
  }
}

function createIdentity(embedder: Embedder) {
  let lastId = embedder.identify ? null : embedder.id
  return {
    /** `Embedder.id` of the model whose vectors the calls give. Rejects as the embedder does. */
    async identify(signal?: AbortSignal): Promise<string> {
      if (embedder.identify) lastId = await embedder.identify(signal)
      return lastId ?? embedder.id
    },
    /** The same as it was known last; null before the endpoint has named its model. */
    lastId: () => lastId,
  }
}

/**
 * Runs work for a search and rejects when the embedder takes too long, because a person waits. The
 * time limit begins with the call; the wait in the queue before it has a longer limit.
 */
function createInTime(searches: Semaphore, clock: Clock) {
  return async function inTime<Value>(
    tenantId: string,
    call: (until: AbortSignal) => Promise<Value>,
    signal?: AbortSignal,
  ): Promise<Value> {
    const late = new AbortController()
    const giveUp = () => {
      late.abort(new ChannelFailure('channel_unavailable', 'retrieval took too long'))
    }
    const until = signal ? AbortSignal.any([signal, late.signal]) : late.signal
    let stop = clock.after(KB_QUERY_WAIT_MS_MAX, giveUp)
    const work = () => {
      stop()
      stop = clock.after(KB_QUERY_MS_MAX, giveUp)
      return call(until)
    }
    return await searches.run(tenantId, work, until).finally(() => stop())
  }
}

/** Makes one call for each group, side by side, in the queue of documents. */
const createEmbedGroups =
  (documents: Semaphore, embed: Embedder['embed']) =>
  (
    tenantId: string,
    groups: readonly (readonly string[])[],
    kind: EmbedKind,
    signal?: AbortSignal,
    countTokens?: (tokens: number) => void,
  ): Promise<Float32Array[]> =>
    allOrNone(signal, (until) =>
      groups.map((texts) =>
        documents.run(tenantId, () => embed(texts, kind, until, countTokens), until),
      ),
    )

/** Joins the vectors of the parts of each text, in order. */
function joined(
  cut: readonly (readonly string[])[],
  vectors: readonly Float32Array[],
): Float32Array[] {
  let from = 0
  return cut.map((parts) => {
    const own = vectors.slice(from, from + parts.length)
    from += parts.length
    if (own.length === 1 && own[0]) return own[0]
    return joinParts(own.map((vector, i) => ({ vector, weight: parts[i]?.length ?? 0 })))
  })
}

async function withTerms(
  texts: readonly string[],
  vectors: readonly Float32Array[],
  slice: TimeSlice,
): Promise<ChunkIndex[]> {
  const indexed: ChunkIndex[] = []
  for (const [i, vector] of vectors.entries()) {
    indexed.push({ vector, terms: termsOf(texts[i] ?? '') })
    if (slice.isOver()) await slice.next()
  }
  return indexed
}

/** The embedder's own call; throws when a vector is missing. */
const completeEmbed =
  (embedder: Embedder): Embedder['embed'] =>
  async (texts, ...rest) => {
    const vectors = await embedder.embed(texts, ...rest)
    if (vectors.length === texts.length) return vectors
    throw new ChannelFailure('channel_unavailable', 'a vector is missing')
  }

/** The results of all calls, in order; the first that fails ends the others. */
async function allOrNone<T>(
  signal: AbortSignal | undefined,
  callsOf: (until: AbortSignal) => Promise<T[]>[],
): Promise<T[]> {
  const failed = new AbortController()
  const until = signal ? AbortSignal.any([signal, failed.signal]) : failed.signal
  const results = await Promise.all(callsOf(until)).catch((error: unknown) => {
    failed.abort(error)
    throw error
  })
  return results.flat()
}

/** Settles like `work`; a failure of the embedder becomes a 502. */
export async function orUnavailable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof ChannelFailure)) throw error
    const openAiCode = openAiCodeOf(error)
    throw appError('embedding_unavailable', {}, { cause: error, openAiCode })
  }
}
