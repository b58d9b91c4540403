import type { Clock } from '../../core/clock.ts'
import { UPSTREAM_MODELS_BYTES_MAX, UPSTREAM_VECTORS_BYTES_MAX } from '../../core/limits.ts'
import type { Embedder } from '../embedder.ts'
import { backOff } from '../retry.ts'
import { type Call, openCall } from './call.ts'
import {
  type Endpoint,
  endpointHeaders,
  endpointHost,
  endpointUrl,
  type Fetch,
} from './endpoint.ts'
import { readStart } from './read-start.ts'
import { refusalOf } from './refusal.ts'
import { listedEmbeddingModel, readVectors } from './vectors.ts'

export interface OpenAiEmbedderOptions extends Endpoint {
  readonly fetch: Fetch
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
  let listed: string | null = null

  async function modelOf(call: Call): Promise<string | null> {
    const known = options.model ?? listed
    if (known !== null) return known
    const response = await send(options, call, '/models', null)
    listed = listedEmbeddingModel(await readStart(response, UPSTREAM_MODELS_BYTES_MAX))
    return listed
  }

  async function ask(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    const call = openCall(clock, timeoutMs, signal)
    try {
      const model = await modelOf(call)
      const body = { ...(model === null ? {} : { model }), input: texts }
      const response = await send(options, call, '/embeddings', body)
      return readVectors(await readStart(response, UPSTREAM_VECTORS_BYTES_MAX), texts.length)
    } catch (error) {
      throw call.explain(error)
    } finally {
      call.close()
    }
  }

  async function askAgain(
    texts: readonly string[],
    signal: AbortSignal,
    attempt = 0,
  ): Promise<Float32Array[]> {
    try {
      return await ask(texts, signal)
    } catch (error) {
      const waitMs = backOff(error, attempt)
      if (waitMs === null) throw error
      await clock.sleep(waitMs, signal)
    }
    return askAgain(texts, signal, attempt + 1)
  }

  return {
    id: `${endpointHost(options.baseUrl)}:${options.model ?? 'auto'}`,
    async embed(texts, _kind, signal) {
      const until = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal
      const vectors: Float32Array[] = []
      for (let from = 0; from < texts.length; from += BATCH_TEXTS) {
        vectors.push(...(await askAgain(texts.slice(from, from + BATCH_TEXTS), until)))
      }
      return vectors
    },
    async close() {
      closing.abort(new Error('embedding is shut down'))
    },
  }
}

/** `body` null: a GET. Resolves with a 2xx answer whose body is still to be read. */
async function send(
  options: OpenAiEmbedderOptions,
  call: Call,
  path: string,
  body: object | null,
): Promise<Response> {
  const headers = { ...endpointHeaders(options), accept: 'application/json' }
  const init: RequestInit = body
    ? {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }
    : { headers }
  call.waiting()
  const response = await options.fetch(endpointUrl(options, path), {
    ...init,
    redirect: 'manual',
    signal: call.signal,
  })
  if (!response.ok) throw (await refusalOf(response, options.clock.now())).failure
  return response
}
