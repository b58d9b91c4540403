import type { Clock } from '../../core/clock.ts'
import { UPSTREAM_VECTORS_BYTES_MAX } from '../../core/limits/upstream.ts'
import { endpointHost } from '../net/endpoint.ts'
import { httpFailure } from '../net/http-failure.ts'
import { createSender, type SenderOptions, UpstreamCall } from '../net/upstream-call.ts'
import { readStart } from '../net/upstream-fetch.ts'
import type { Embedder } from '../ports/embedder.ts'
import { retry } from '../resilience/retry.ts'
import { firstEmbeddingModel } from './models.ts'
import { readVectors } from './vectors.ts'

export interface OpenAiEmbedderOptions extends SenderOptions {
  readonly clock: Clock
  /** Null: the first embedding model the endpoint lists; none: the request names no model. */
  readonly model: string | null
  /** Longest silence of the endpoint. */
  readonly timeoutMs: number
}

/** The fewest inputs a request that a common vendor allows. */
const BATCH_TEXTS = 10

/**
 * Embeds with an OpenAI-compatible `/embeddings`. Busy and unreachable endpoints are asked again by
 * the same rule as chat models. How long the vectors are is read from the answer.
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

  async function ask(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
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
    async embed(texts, _kind, signal) {
      const until = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal
      const vectors: Float32Array[] = []
      for (let from = 0; from < texts.length; from += BATCH_TEXTS) {
        const batch = texts.slice(from, from + BATCH_TEXTS)
        vectors.push(...(await retry(() => ask(batch, until), clock, until)))
      }
      return vectors
    },
    async close() {
      closing.abort(new Error('embedding is shut down'))
    },
  }
}
