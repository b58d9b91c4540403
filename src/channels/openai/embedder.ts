import { z } from 'zod'
import { type Clock, MINUTE_MS } from '../../core/clock.ts'
import { parseUntrustedJson } from '../../core/json.ts'
import { TOKENS_TOLD_MAX, UPSTREAM_VECTORS_BYTES_MAX } from '../../core/limits/upstream.ts'
import { estimateTokens } from '../../core/text.ts'
import { normalize } from '../../core/vector.ts'
import { httpFailure } from '../../upstream/net/http-failure.ts'
import {
  createSender,
  endpointPlace,
  readStart,
  type SenderOptions,
  UpstreamCall,
} from '../../upstream/net/upstream-call.ts'
import type { Embedder } from '../../upstream/ports/embedder.ts'
import { ChannelFailure } from '../../upstream/ports/failure.ts'
import { retry } from '../../upstream/resilience/retry.ts'
import { firstEmbeddingModel, listedModels } from './models.ts'

export interface OpenAiEmbedderOptions extends SenderOptions {
  readonly clock: Clock
  /** Null for the first embedding model that the endpoint lists, or no name if it lists none. */
  readonly model: string | null
  /** Longest silence of the endpoint. */
  readonly timeoutMs: number
  /** Identifies the vector space; by default by the address and the model. */
  readonly id?: string
  readonly lengthMax?: number
}

/** Where no model is set, the list of models is read again at this interval. */
const LISTED_MS = 10 * MINUTE_MS

/** The model of an endpoint. */
interface Chosen {
  /** Its name in requests; null where none is known to make vectors. */
  readonly model: string | null
  /** What tells its vectors from those of another model. */
  readonly id: string
}

/** The lowest limit of inputs per request among common vendors. */
const BATCH_TEXTS = 10

/**
 * Embeds with an OpenAI-compatible `/embeddings`. Busy and unreachable endpoints are asked again by
 * the same rule as chat models. The length of the vectors is learned from the answer.
 */
export function createOpenAiEmbedder(options: OpenAiEmbedderOptions): Embedder {
  const { clock } = options
  const closing = new AbortController()
  const exchange = createExchange(options)
  const place = endpointPlace(options.baseUrl)
  let listed: { readonly chosen: Chosen; readonly at: number } | null = null

  async function look(signal: AbortSignal): Promise<Chosen> {
    const init = { headers: { accept: 'application/json' } }
    const ids = await exchange('/models', init, signal, listedModels)
    const model = firstEmbeddingModel(ids)
    return { model, id: `${place}:${model ?? ids[0] ?? ''}` }
  }

  /** The model that is set, or the one that the endpoint has listed last. */
  async function chosen(signal: AbortSignal): Promise<Chosen> {
    if (options.model !== null) return { model: options.model, id: `${place}:${options.model}` }
    if (listed && clock.steady() - listed.at < LISTED_MS) return listed.chosen
    const known = listed?.chosen
    const fresh = await retry(() => look(signal), clock, signal).catch((error: unknown) => {
      if (!known || signal.aborted) throw error
      return known
    })
    listed = { chosen: fresh, at: clock.steady() }
    return fresh
  }

  function ask(model: string | null, texts: readonly string[], signal: AbortSignal) {
    const body = { ...(model === null ? {} : { model }), input: texts }
    const headers = { accept: 'application/json', 'content-type': 'application/json' }
    const request = { method: 'POST', headers, body: JSON.stringify(body) }
    return exchange('/embeddings', request, signal, async (response) =>
      readVectors(await readStart(response, UPSTREAM_VECTORS_BYTES_MAX), texts.length),
    )
  }

  const untilClosed = (signal?: AbortSignal) =>
    signal ? AbortSignal.any([signal, closing.signal]) : closing.signal

  return {
    id: options.id ?? `${place}:${options.model ?? ''}`,
    identify: async (signal) => options.id ?? (await chosen(untilClosed(signal))).id,
    ...(options.model === null ? {} : { name: options.model }),
    ...(options.lengthMax === undefined ? {} : { lengthMax: options.lengthMax }),
    async embed(texts, _kind, signal, countTokens) {
      const until = untilClosed(signal)
      const { model } = await chosen(until)
      const vectors: Float32Array[] = []
      for (let from = 0; from < texts.length; from += BATCH_TEXTS) {
        const batch = texts.slice(from, from + BATCH_TEXTS)
        const answer = await retry(() => ask(model, batch, until), clock, until)
        countTokens?.(answer.tokens ?? estimateTokens(batch))
        vectors.push(...answer.vectors)
      }
      return vectors
    },
    async close() {
      closing.abort(new Error('embedding is shut down'))
    },
  }
}

/** Sends a request and reads its answer; a status other than 2xx is a failure. */
function createExchange(options: OpenAiEmbedderOptions) {
  const { clock, timeoutMs } = options
  const send = createSender(options)
  return async function exchange<Result>(
    path: string,
    init: RequestInit,
    signal: AbortSignal,
    read: (response: Response) => Promise<Result>,
  ): Promise<Result> {
    const call = new UpstreamCall(clock, timeoutMs, signal)
    try {
      const response = await send(call, path, init)
      if (!response.ok) throw (await httpFailure(response, clock.now())).failure
      return await read(response)
    } catch (error) {
      throw call.explain(error)
    } finally {
      call.close()
    }
  }
}

const EmbeddingsAnswer = z.object({
  data: z.array(
    z.object({
      index: z.number().int().nullish(),
      embedding: z.union([z.array(z.number()), z.string()]),
    }),
  ),
  usage: z
    .object({ prompt_tokens: z.int().positive().max(TOKENS_TOLD_MAX) })
    .nullish()
    .catch(null),
})

interface Vectors {
  readonly vectors: Float32Array[]
  /** Tokens of all texts together; null when the endpoint does not report them. */
  readonly tokens: number | null
}

/**
 * The vectors of an `/embeddings` answer, in the order of the inputs and of unit length. Throws
 * `ChannelFailure` for anything else than `count` vectors of one length.
 */
export function readVectors(text: string, count: number): Vectors {
  const parsed = EmbeddingsAnswer.safeParse(parse(text))
  if (!parsed.success) throw malformed('not an embeddings answer')
  const vectors: (Float32Array | undefined)[] = new Array(count).fill(undefined)
  for (const [place, { index, embedding }] of parsed.data.data.entries()) {
    const at = index ?? place
    if (at < 0 || at >= count) throw malformed('vectors out of place')
    vectors[at] = toVector(embedding)
  }
  const dimensions = vectors[0]?.length ?? 0
  const checked = Array.from(vectors, (vector) => {
    if (!vector || vector.length !== dimensions) throw malformed('vectors missing or uneven')
    if (!vector.every(Number.isFinite)) throw malformed('vectors not finite')
    return normalize(vector)
  })
  return { vectors: checked, tokens: parsed.data.usage?.prompt_tokens ?? null }
}

function toVector(embedding: readonly number[] | string): Float32Array {
  if (typeof embedding !== 'string') return Float32Array.from(embedding)
  const bytes = Buffer.from(embedding, 'base64')
  if (bytes.length === 0 || bytes.length % 4 !== 0) throw malformed('vectors not readable')
  return new Float32Array(new Uint8Array(bytes).buffer)
}

function parse(text: string): unknown {
  try {
    return parseUntrustedJson(text)
  } catch {
    return null
  }
}

function malformed(phrase: string): ChannelFailure {
  return new ChannelFailure('provider_error', phrase)
}
