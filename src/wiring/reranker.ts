import type { LlamaServer } from '../channels/llama/server.ts'
import { createReranker } from '../channels/openai/reranker.ts'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/log.ts'
import type { UpstreamFetch } from '../upstream/net/upstream-call.ts'
import type { Reranker } from '../upstream/ports/embedder.ts'
import type { ChannelFailure } from '../upstream/ports/failure.ts'
import { rerankerBreaker } from '../upstream/resilience/breaker.ts'
import type { LiveSettings } from './live-settings.ts'

/** A person waits for the search. */
const RERANK_TIMEOUT_MS = 1_500

const RERANK_SETTINGS = ['MB_RERANK_BASE_URL', 'MB_RERANK_API_KEY', 'MB_RERANK_MODEL'] as const

interface RerankerNeeds {
  readonly live: LiveSettings
  readonly clock: Clock
  readonly log: Logger
  readonly fetch: UpstreamFetch
  /** The reranking model of the model pack. */
  readonly packed: LlamaServer | undefined
}

/** The reranker that is configured, or that of the model pack. */
export function openReranker({ live, clock, log, fetch, packed }: RerankerNeeds) {
  const onOpen = ({ reason }: ChannelFailure) => log.warn('reranker skipped', { reason })
  const timeoutMs = RERANK_TIMEOUT_MS
  return live.part(RERANK_SETTINGS, (config): Reranker | null => {
    const { MB_RERANK_BASE_URL: baseUrl, MB_RERANK_API_KEY: apiKey = '' } = config
    if (baseUrl !== undefined) {
      const model = config.MB_RERANK_MODEL ?? null
      const reranker = createReranker({ fetch, clock, baseUrl, apiKey, model, timeoutMs })
      return rerankerBreaker(reranker, { clock, onOpen })
    }
    if (!packed) return null
    const reranker = createReranker({
      fetch: packed.fetch,
      clock,
      baseUrl: packed.endpoint.baseUrl,
      apiKey: packed.endpoint.apiKey,
      model: packed.name,
      timeoutMs,
    })
    return rerankerBreaker(reranker, { clock, onOpen })
  })
}
