import { createOpenAiChat } from '../channels/openai/chat.ts'
import { listModels } from '../channels/openai/models.ts'
import { probe } from '../channels/openai/probe.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import { createSeal } from '../core/crypto.ts'
import { PROBE_MS_MAX } from '../core/limits/upstream.ts'
import { createLoopTurns } from '../core/time-slice.ts'
import { createProviderChannels } from '../features/provider/channel.ts'
import { createModelLists } from '../features/provider/model-list.ts'
import { createProvider } from '../features/provider/service.ts'
import { createProviderStore } from '../features/provider/store.ts'
import {
  createUpstreamFetch,
  type Endpoint,
  type UpstreamFetch,
} from '../upstream/net/upstream-call.ts'
import { retryLlm } from '../upstream/resilience/retry.ts'
import type { Adapters } from './adapters.ts'
import type { Egress } from './egress.ts'

/** Wires the models that tenants bring, and the choice of the channel that answers a tenant. */
export function openProvider(adapters: Adapters) {
  const { live, clock, log, secrets, db, platform, egress, fetch } = adapters
  const store = createProviderStore(db)
  const seal = secrets.encryption && createSeal(secrets.encryption)
  const models = tenantModels(live.config, clock, egress)
  const { channelOf, onWorking } = createProviderChannels({
    store,
    seal,
    clock,
    log,
    connect: models.connect,
    defaultModel: models.defaultModel,
    platform: platform.channel,
  })
  const allow = () => live.config().MB_ALLOW_PRIVATE_HOSTS
  const service = createProvider({ store, seal, allow, probe: models.probe, onWorking })
  const modelLists = createModelLists({
    store,
    seal,
    clock,
    defaultModel: models.defaultModel,
    platform: () => platform.channel.current.endpoint,
    ask: (tenantId, endpoint) =>
      tenantId === null
        ? askForModels(endpoint, platform.channel.current.packed?.fetch ?? fetch, clock)
        : models.list(tenantId, endpoint),
  })
  return { service, channelOf, modelLists }
}

async function askForModels({ baseUrl, apiKey }: Endpoint, fetch: UpstreamFetch, clock: Clock) {
  const late = new AbortController()
  const cancel = clock.after(PROBE_MS_MAX, () => late.abort(new Error('the list took too long')))
  return listModels({ baseUrl, apiKey, fetch }, late.signal).finally(cancel)
}

/** The platform's adapter for OpenAI-compatible models, behind the guard for tenants' addresses. */
function tenantModels(config: () => Config, clock: Clock, { fetchFor }: Egress) {
  const upstreamFetch = (tenantId: string) => createUpstreamFetch(fetchFor(tenantId))
  // The channel gets the resolved model name as it is, the platform's default included.
  const defaultModel = () => config().MB_LLM_MODEL ?? null
  const turns = createLoopTurns(clock.steady)
  return {
    defaultModel,

    connect: (tenantId: string, { baseUrl, apiKey }: Endpoint) =>
      retryLlm(
        createOpenAiChat({
          baseUrl,
          apiKey,
          fetch: upstreamFetch(tenantId),
          clock,
          defaultModel: defaultModel(),
          timeoutMs: config().MB_LLM_TIMEOUT_MS,
          thinkingForm: 'auto',
          inTurn: (work) => turns(tenantId, work),
        }),
        clock,
      ),

    list: (tenantId: string, endpoint: Endpoint) =>
      askForModels(endpoint, upstreamFetch(tenantId), clock),

    probe: (
      tenantId: string,
      { baseUrl, apiKey }: Endpoint,
      model: string | null,
      signal: AbortSignal,
    ) =>
      probe(
        {
          baseUrl,
          apiKey,
          fetch: upstreamFetch(tenantId),
          clock,
          model: model ?? defaultModel(),
          timeoutMs: PROBE_MS_MAX,
        },
        signal,
      ),
  }
}
