import type { Endpoint } from '../channels/net/endpoint.ts'
import { createUpstreamFetch } from '../channels/net/upstream-fetch.ts'
import { createOpenAiChat } from '../channels/openai/chat.ts'
import { probe } from '../channels/openai/probe.ts'
import { retryLlm } from '../channels/resilience/retry.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import { PROBE_MS_MAX } from '../core/limits/upstream.ts'
import { guardedFetch } from './guarded.ts'

/** How the product reaches the models that tenants bring: the platform's adapter, guarded. */
export function openByo(config: Config, clock: Clock, plainFetch: typeof fetch) {
  const fetch = createUpstreamFetch(guardedFetch(config, clock, plainFetch))
  // The resolved model name goes to the channel as it is, the platform's default included.
  const defaultModel = config.MB_LLM_MODEL ?? null
  return {
    connect: (endpoint: Endpoint) =>
      retryLlm(
        createOpenAiChat({
          ...endpoint,
          fetch,
          clock,
          defaultModel,
          timeoutMs: config.MB_LLM_TIMEOUT_MS,
          thinkingForm: 'auto',
        }),
        clock,
      ),

    probe: (endpoint: Endpoint, model: string | null, signal: AbortSignal) =>
      probe(
        { ...endpoint, fetch, clock, model: model ?? defaultModel, timeoutMs: PROBE_MS_MAX },
        signal,
      ),
  }
}

export type Byo = ReturnType<typeof openByo>
