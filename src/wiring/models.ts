import type { LlamaServer } from '../channels/llama/server.ts'
import { createOfflineChat } from '../channels/offline/chat.ts'
import { createOpenAiChat } from '../channels/openai/chat.ts'
import { detectLocalServer } from '../channels/openai/detect.ts'
import { listModels } from '../channels/openai/models.ts'
import { probe } from '../channels/openai/probe.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import { createSeal } from '../core/crypto.ts'
import { PROBE_MS_MAX } from '../core/limits/upstream.ts'
import type { Logger } from '../core/log.ts'
import { createLoopTurns } from '../core/time-slice.ts'
import type { Secrets } from '../data-folder/secrets.ts'
import { createProviderChannels } from '../features/provider/channel.ts'
import { createModelLists } from '../features/provider/model-list.ts'
import { createProvider } from '../features/provider/service.ts'
import { createProviderStore } from '../features/provider/store.ts'
import type { Db } from '../storage/db.ts'
import {
  createUpstreamFetch,
  type Endpoint,
  type UpstreamFetch,
} from '../upstream/net/upstream-call.ts'
import type { Llm } from '../upstream/ports/llm.ts'
import { retryLlm } from '../upstream/resilience/retry.ts'
import type { Egress } from './adapters.ts'
import type { LiveSettings } from './live-settings.ts'

export interface PlatformChannel {
  readonly llm: Llm
  /** One line for operators: which model answers, and where it runs. */
  readonly description: string
  /** Null for the built-in responder. */
  readonly endpoint: Endpoint | null
  /** The model pack, when it answers; only its own `fetch` reaches it. */
  readonly packed?: LlamaServer
}

const PLATFORM_SETTINGS = [
  'MB_LLM_BASE_URL',
  'MB_LLM_API_KEY',
  'MB_LLM_MODEL',
  'MB_LLM_THINKING',
  'MB_LLM_DETECT',
] as const

interface PlatformParts {
  readonly live: LiveSettings
  readonly clock: Clock
  readonly fetch: UpstreamFetch
  /** The chat model of the model pack. */
  readonly packed?: LlamaServer | undefined
}

/** How often a server without a model looks for a model server that was started later. */
const LOOK_AGAIN_MS = 15_000

/**
 * The platform channel: the configured endpoint, else the model pack, else a model server found on
 * this machine, else the built-in responder until a server appears.
 */
export async function openPlatform({ live, clock, fetch, packed }: PlatformParts) {
  const turns = createLoopTurns(clock.steady)
  const connect = (
    config: Config,
    { baseUrl, apiKey }: Endpoint,
    model: string | undefined,
    ask = fetch,
  ) =>
    retryLlm(
      createOpenAiChat({
        fetch: ask,
        clock,
        baseUrl,
        apiKey,
        defaultModel: model ?? null,
        timeoutMs: config.MB_LLM_TIMEOUT_MS,
        thinkingForm: config.MB_LLM_THINKING,
        inTurn: (work) => turns('', work),
      }),
      clock,
    )

  async function choose(config: Config): Promise<PlatformChannel> {
    const apiKey = config.MB_LLM_API_KEY ?? ''
    if (config.MB_LLM_BASE_URL) {
      packed?.rest()
      const host = new URL(config.MB_LLM_BASE_URL).host
      const model = config.MB_LLM_MODEL ?? 'the first model it lists'
      const endpoint = { baseUrl: config.MB_LLM_BASE_URL, apiKey }
      const llm = connect(config, endpoint, config.MB_LLM_MODEL)
      return { llm, description: `${host}, ${model}`, endpoint }
    }
    if (packed) {
      packed.warm()
      const { endpoint, name } = packed
      const llm = connect(config, endpoint, name, packed.fetch)
      return { llm, description: `${name}, of the model pack`, endpoint, packed }
    }
    const found = config.MB_LLM_DETECT
      ? await detectLocalServer({ fetch, clock, ownPort: config.MB_OLLAMA_PORT })
      : null
    if (!found) return { llm: createOfflineChat(), description: OFFLINE, endpoint: null }
    const model = config.MB_LLM_MODEL ?? found.model
    const endpoint = { baseUrl: found.baseUrl, apiKey }
    const description = `${found.name} on this machine (${new URL(found.baseUrl).host}), ${model}`
    return { llm: connect(config, endpoint, model), description, endpoint }
  }

  const channel = await live.part(PLATFORM_SETTINGS, async (config) => ({
    ...(await choose(config)),
    config,
  }))
  return {
    channel,
    lookAgainMs: LOOK_AGAIN_MS,
    /** Looks for a model server while there is none; resolves with whether one was found. */
    async lookAgain(): Promise<boolean> {
      const { current } = channel
      const canAppear = !current.config.MB_LLM_BASE_URL && current.config.MB_LLM_DETECT
      if (!canAppear || current.endpoint !== null) return false
      Object.assign(current, await choose(current.config))
      return current.endpoint !== null
    },
  }
}

export type Platform = Awaited<ReturnType<typeof openPlatform>>

const OFFLINE =
  'none connected; the built-in responder answers. Start Ollama, LM Studio or llama.cpp, ' +
  'or set MB_LLM_BASE_URL'

export interface ProviderParts {
  readonly live: LiveSettings
  readonly clock: Clock
  readonly log: Logger
  readonly secrets: Secrets
  readonly db: Db
  readonly platform: Platform
  readonly egress: Egress
  /** Reaches the platform's endpoint. */
  readonly fetch: UpstreamFetch
}

/** Wires the models that tenants bring, and the choice of the channel that answers a tenant. */
export function openProvider(parts: ProviderParts) {
  const { live, clock, log, secrets, db, platform, egress, fetch } = parts
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
  const provider = createProvider({ store, seal, allow, probe: models.probe, onWorking })
  const modelLists = createModelLists({
    ...{ store, seal, clock },
    platform: () => platform.channel.current.endpoint,
    ask: (tenantId, endpoint) =>
      tenantId === null
        ? askForModels(endpoint, platform.channel.current.packed?.fetch ?? fetch, clock)
        : models.list(tenantId, endpoint),
  })
  return { provider, channelOf, modelLists }
}

async function askForModels(endpoint: Endpoint, fetch: UpstreamFetch, clock: Clock) {
  const late = new AbortController()
  const cancel = clock.after(PROBE_MS_MAX, () => late.abort(new Error('the list took too long')))
  return listModels({ ...endpoint, fetch }, late.signal).finally(cancel)
}

/** The platform's adapter for OpenAI-compatible models, behind the guard for tenants' addresses. */
function tenantModels(config: () => Config, clock: Clock, { fetchFor }: Egress) {
  const upstreamFetch = (tenantId: string) => createUpstreamFetch(fetchFor(tenantId))
  // The channel gets the resolved model name as it is, the platform's default included.
  const defaultModel = () => config().MB_LLM_MODEL ?? null
  const turns = createLoopTurns(clock.steady)
  return {
    defaultModel,

    connect: (tenantId: string, endpoint: Endpoint) =>
      retryLlm(
        createOpenAiChat({
          ...endpoint,
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

    probe: (tenantId: string, endpoint: Endpoint, model: string | null, signal: AbortSignal) =>
      probe(
        {
          ...endpoint,
          fetch: upstreamFetch(tenantId),
          clock,
          model: model ?? defaultModel(),
          timeoutMs: PROBE_MS_MAX,
        },
        signal,
      ),
  }
}
