import type { LlamaServer } from '../channels/llama/server.ts'
import { createOfflineChat } from '../channels/offline/chat.ts'
import { createOpenAiChat } from '../channels/openai/chat.ts'
import { detectLocalServer } from '../channels/openai/detect.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import { createLoopTurns } from '../core/time-slice.ts'
import type { Endpoint, UpstreamFetch } from '../upstream/net/upstream-call.ts'
import type { Llm } from '../upstream/ports/llm.ts'
import { retryLlm } from '../upstream/resilience/retry.ts'
import type { LiveSettings } from './live-settings.ts'

export interface PlatformChannel {
  readonly llm: Llm
  /** One line for operators: which model answers, and where it runs. */
  readonly description: string
  /** Null for the built-in responder. */
  readonly endpoint: Endpoint | null
  /** The model pack, when it answers; only its own `fetch` reaches it. */
  readonly packed?: LlamaServer
  /** The settings by which it was chosen. */
  readonly config: Config
}

const PLATFORM_SETTINGS = [
  'MB_LLM_BASE_URL',
  'MB_LLM_API_KEY',
  'MB_LLM_MODEL',
  'MB_LLM_THINKING',
  'MB_LLM_DETECT',
] as const

interface PlatformNeeds {
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
export async function openPlatform({ live, clock, fetch, packed }: PlatformNeeds) {
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
      return { llm, description: `${host}, ${model}`, endpoint, config }
    }
    if (packed) {
      packed.warm()
      const { endpoint, name } = packed
      const llm = connect(config, endpoint, name, packed.fetch)
      return { llm, description: `${name}, of the model pack`, endpoint, packed, config }
    }
    const found = config.MB_LLM_DETECT
      ? await detectLocalServer({ fetch, clock, ownPort: config.MB_OLLAMA_PORT })
      : null
    if (!found) return { llm: createOfflineChat(), description: OFFLINE, endpoint: null, config }
    const model = config.MB_LLM_MODEL ?? found.model
    const endpoint = { baseUrl: found.baseUrl, apiKey }
    const description = `${found.name} on this machine (${new URL(found.baseUrl).host}), ${model}`
    return { llm: connect(config, endpoint, model), description, endpoint, config }
  }

  const channel = await live.part(PLATFORM_SETTINGS, choose)
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
  'none connected; the built-in responder answers. Choose one in the browser, Server → Models, ' +
  'or start Ollama, LM Studio or llama.cpp'
