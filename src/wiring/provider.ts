import { createUpstreamFetch, type Endpoint } from '../channels/net/upstream-fetch.ts'
import { createOpenAiChat } from '../channels/openai/chat.ts'
import { probe } from '../channels/openai/probe.ts'
import { retryLlm } from '../channels/resilience/retry.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import { createSeal } from '../core/encryption.ts'
import { PROBE_MS_MAX } from '../core/limits/upstream.ts'
import type { Logger } from '../core/log.ts'
import { createLoopTurns } from '../core/time-slice.ts'
import type { Secrets } from '../data-folder/secrets.ts'
import { createProviderChannels } from '../features/provider/channel.ts'
import { createProvider } from '../features/provider/service.ts'
import { createProviderStore } from '../features/provider/store.ts'
import type { Db } from '../storage/db.ts'
import type { Egress } from './egress.ts'
import type { Platform } from './platform.ts'

export interface ProviderParts {
  readonly config: Config
  readonly clock: Clock
  readonly log: Logger
  readonly secrets: Secrets
  readonly db: Db
  readonly platform: Platform
  readonly egress: Egress
}

/** Wires the models that tenants bring, and the choice of the channel that answers a tenant. */
export function openProvider(parts: ProviderParts) {
  const { config, clock, log, secrets, db, platform, egress } = parts
  const store = createProviderStore(db)
  const seal = secrets.encryption && createSeal(secrets.encryption)
  const models = tenantModels(config, clock, egress)
  const { channelOf, onWorking } = createProviderChannels({
    store,
    seal,
    clock,
    log,
    connect: models.connect,
    platform: () => platform.get().llm,
  })
  const allow = config.MB_ALLOW_PRIVATE_HOSTS
  const provider = createProvider({ store, seal, allow, probe: models.probe, onWorking })
  return { provider, channelOf }
}

/** The platform's adapter for OpenAI-compatible models, behind the guard for tenants' addresses. */
function tenantModels(config: Config, clock: Clock, { fetchFor }: Egress) {
  const upstreamFetch = (tenantId: string) => createUpstreamFetch(fetchFor(tenantId))
  // The channel gets the resolved model name as it is, the platform's default included.
  const defaultModel = config.MB_LLM_MODEL ?? null
  const turns = createLoopTurns(clock.steady)
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
          inTurn: (work) => turns(tenantId, work),
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
