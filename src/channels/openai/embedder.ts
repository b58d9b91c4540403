import { z } from 'zod'
import type { Clock } from '../../core/clock.ts'
import { parseUntrustedJson } from '../../core/json.ts'
import { TOKENS_TOLD_MAX, UPSTREAM_VECTORS_BYTES_MAX } from '../../core/limits/upstream.ts'
import { estimateTokens } from '../../core/text.ts'
import { normalize } from '../../core/vector.ts'
import {
  createSender,
  endpointHost,
  httpFailure,
  readStart,
  type SenderOptions,
  UpstreamCall,
} from '../net/upstream-call.ts'
import type { Embedder } from '../ports/embedder.ts'
import { ChannelFailure } from '../ports/failure.ts'
import { retry } from '../resilience/retry.ts'
import { firstEmbeddingModel } from './models.ts'

export interface OpenAiEmbedderOptions extends SenderOptions {
  readonly clock: Clock
  /** Null for the first embedding model that the endpoint lists, or no name if it lists none. */
  readonly model: string | null
  /** Longest silence of the endpoint. */
  readonly timeoutMs: number
}

/** The lowest limit of inputs per request among common vendors. */
const BATCH_TEXTS = 10

/**
 * Embeds with an OpenAI-compatible `/embeddings`. Busy and unreachable endpoints are asked again by
 * the same rule as chat models. The length of the vectors is learned from the answer.
 */
export function createOpenAiEmbedder(options: OpenAiEmbedderOptions): Embedder {
  const { clock, timeoutMs } = options
  const closing = new AbortController()
  const send = createSender(options)
  let listed: string | null = null

  /** Resolves with a 2xx answer whose body is still to be read. */
  async function accepted(call: UpstreamCall, path: string, init: RequestInit): Promise<Response> {
    const response = await send(call, path, init)
    if (!response.ok) throw (await httpFailure(response, clock.now())).failure
    return response
  }

  async function modelOf(call: UpstreamCall): Promise<string | null> {
    const known = options.model ?? listed
    if (known !== null) return known
    const response = await accepted(call, '/models', { headers: { accept: 'application/json' } })
    listed = await firstEmbeddingModel(response)
    return listed
  }

  async function ask(texts: readonly string[], signal: AbortSignal): Promise<Vectors> {
    const call = new UpstreamCall(clock, timeoutMs, signal)
    try {
      const model = await modelOf(call)
      const body = { ...(model === null ? {} : { model }), input: texts }
      const headers = { accept: 'application/json', 'content-type': 'application/json' }
      const request = { method: 'POST', headers, body: JSON.stringify(body) }
      const response = await accepted(call, '/embeddings', request)
      return readVectors(await readStart(response, UPSTREAM_VECTORS_BYTES_MAX), texts.length)
    } catch (error) {
      throw call.explain(error)
    } finally {
      call.close()
    }
  }

  return {
    id: `${endpointHost(options.baseUrl)}:${options.model ?? 'auto'}`,
    ...(options.model === null ? {} : { name: options.model }),
    async embed(texts, _kind, signal, countTokens) {
      const until = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal
      const vectors: Float32Array[] = []
      for (let from = 0; from < texts.length; from += BATCH_TEXTS) {
        const batch = texts.slice(from, from + BATCH_TEXTS)
        const answer = await retry(() => ask(batch, until), clock, until)
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
