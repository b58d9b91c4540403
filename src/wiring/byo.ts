import type { Endpoint } from '../channels/net/endpoint.ts'
import { createUpstreamFetch } from '../channels/net/upstream-fetch.ts'
import { createOpenAiChat } from '../channels/openai/chat.ts'
import { probe } from '../channels/openai/probe.ts'
import { retryLlm } from '../channels/resilience/retry.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import { PROBE_MS_MAX } from '../core/limits/upstream.ts'
import type { Egress } from './egress.ts'

/** Reaches the models that tenants bring: the platform's adapter behind the guard. */
export function openByo(config: Config, clock: Clock, { fetchFor }: Egress) {
  const upstreamFetch = (tenantId: string) => createUpstreamFetch(fetchFor(tenantId))
  // The channel gets the resolved model name as it is, the platform's default included.
  const defaultModel = config.MB_LLM_MODEL ?? null
  return {
    connect: (tenantId: string, endpoint: Endpoint) =>
      retryLlm(
        createOpenAiChat({
          ...endpoint,
          fetch: upstreamFetch(tenantId),
          clock,
          defaultModel,
          timeoutMs: config.MB_LLM_TIMEOUT_MS,
          thinkingForm: 'auto',
        }),
        clock,
      ),

    probe: (tenantId: string, endpoint: Endpoint, model: string | null, signal: AbortSignal) =>
      probe(
        {
          ...endpoint,
          fetch: upstreamFetch(tenantId),
          clock,
          model: model ?? defaultModel,
          timeoutMs: PROBE_MS_MAX,
        },
        signal,
      ),
  }
}

export type Byo = ReturnType<typeof openByo>
