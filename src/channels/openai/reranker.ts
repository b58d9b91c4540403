import { z } from 'zod'
import type { Clock } from '../../core/clock.ts'
import { parseUntrustedJson } from '../../core/json.ts'
import { UPSTREAM_VECTORS_BYTES_MAX } from '../../core/limits/upstream.ts'
import { httpFailure } from '../../upstream/net/http-failure.ts'
import {
  createSender,
  readStart,
  type SenderOptions,
  UpstreamCall,
} from '../../upstream/net/upstream-call.ts'
import type { Reranker } from '../../upstream/ports/embedder.ts'
import { ChannelFailure } from '../../upstream/ports/failure.ts'

export interface RerankerOptions extends SenderOptions {
  readonly clock: Clock
  /** Null when requests name no model. */
  readonly model: string | null
  /** Longest time of a call. */
  readonly timeoutMs: number
}

const Ranking = z.object({
  results: z.array(
    z.object({ index: z.number().int().nonnegative(), relevance_score: z.number() }),
  ),
})

/**
 * Ranks with a `/rerank` endpoint, as Jina, Cohere, vLLM and others offer it. A call is not
 * repeated: a person waits, and the caller has an order of its own.
 */
export function createReranker(options: RerankerOptions): Reranker {
  const { clock, model, timeoutMs } = options
  const send = createSender(options)

  return {
    async rank(question, texts, signal = new AbortController().signal) {
      const late = new AbortController()
      const stop = clock.after(timeoutMs, () =>
        late.abort(new ChannelFailure('retry_exhausted', 'reranking took too long')),
      )
      const call = new UpstreamCall(clock, timeoutMs, AbortSignal.any([signal, late.signal]))
      try {
        const body = JSON.stringify({
          ...(model === null ? {} : { model }),
          query: question,
          documents: texts,
          top_n: texts.length,
        })
        const headers = { accept: 'application/json', 'content-type': 'application/json' }
        const response = await send(call, '/rerank', { method: 'POST', headers, body })
        if (!response.ok) throw (await httpFailure(response, clock.now())).failure
        return readRanking(await readStart(response, UPSTREAM_VECTORS_BYTES_MAX), texts.length)
      } catch (error) {
        throw call.explain(error)
      } finally {
        stop()
        call.close()
      }
    },
  }
}

/** Throws `ChannelFailure` for anything else than a ranking of `count` texts. */
function readRanking(text: string, count: number): number[] {
  const parsed = Ranking.safeParse(parse(text))
  if (!parsed.success) throw malformed('not a ranking')
  const { results } = parsed.data
  const places = new Set(results.map(({ index }) => index))
  if (places.size !== results.length || results.some(({ index }) => index >= count)) {
    throw malformed('ranks out of place')
  }
  return results.toSorted((a, b) => b.relevance_score - a.relevance_score).map(({ index }) => index)
}

function parse(text: string): unknown {
  try {
    return parseUntrustedJson(text)
  } catch {
    return null
  }
}

const malformed = (phrase: string) => new ChannelFailure('provider_error', phrase)
