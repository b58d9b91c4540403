import type { LlamaServer } from '../channels/llama/server.ts'
import { createOnnxEmbedder } from '../channels/onnx/embedder.ts'
import { ModelFolderError, readModelFolder } from '../channels/onnx/model-folder.ts'
import { createOpenAiEmbedder } from '../channels/openai/embedder.ts'
import { type Config, ConfigError } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/log.ts'
import type { Meters } from '../core/meters.ts'
import { createSharedEmbedder } from '../features/knowledge/index/embedding.ts'
import { type NativeRuntime, onnxEnv } from '../native/runtime.ts'
import type { UpstreamFetch } from '../upstream/net/upstream-call.ts'
import type { Embedder } from '../upstream/ports/embedder.ts'
import { meterEmbedder } from '../upstream/resilience/metered.ts'
import type { LiveSettings } from './live-settings.ts'

const REMOTE_TIMEOUT_MS = 30_000

export interface EmbeddingNeeds {
  readonly runtime: NativeRuntime
  /** The command that starts the embedding process; the model is appended to it. */
  readonly embedWorker: readonly string[]
  readonly clock: Clock
  readonly log: Logger
  readonly fetch: UpstreamFetch
  /** The embedding model of the model pack. */
  readonly packed?: LlamaServer | undefined
}

export interface Embedding {
  readonly embedder: Embedder
  /** One line for the start banner. */
  readonly description: string
}

/** The remote endpoint when one is set, else a model folder, by default the shipped one. */
export async function openEmbedding(config: Config, needs: EmbeddingNeeds): Promise<Embedding> {
  const { runtime, embedWorker, clock, log, fetch, packed } = needs
  const baseUrl = config.MB_EMBED_BASE_URL
  if (baseUrl) {
    const apiKey = config.MB_EMBED_API_KEY ?? ''
    const model = config.MB_EMBED_MODEL ?? null
    const timeoutMs = REMOTE_TIMEOUT_MS
    const embedder = createOpenAiEmbedder({ fetch, clock, baseUrl, apiKey, model, timeoutMs })
    const name = model ?? 'the first embedding model it lists'
    return { embedder, description: `${name} at ${new URL(baseUrl).host}` }
  }
  if (packed && config.MB_EMBED_MODEL_DIR === undefined) return packedEmbedding(packed, clock)
  const dir = config.MB_EMBED_MODEL_DIR ?? runtime.modelDir
  const model = await modelAt(dir)
  const command = { argv: [...embedWorker, dir], env: onnxEnv(runtime) }
  const embedder = createOnnxEmbedder({ model, command, clock, log })
  return { embedder, description: `${model.name}, on this machine` }
}

/** Such a text has at most 2,048 tokens, the window that the pack's model gets (channels/llama). */
const PACK_UNITS_MAX = 1_500

function packedEmbedding({ name, endpoint, fetch }: LlamaServer, clock: Clock): Embedding {
  const embedder = createOpenAiEmbedder({
    baseUrl: endpoint.baseUrl,
    apiKey: endpoint.apiKey,
    fetch,
    clock,
    model: name,
    timeoutMs: REMOTE_TIMEOUT_MS,
    // Without the port: it changes with each start, and the vectors do not.
    id: `pack:${name}`,
    lengthMax: PACK_UNITS_MAX,
  })
  return { embedder, description: `${name}, of the model pack` }
}

async function modelAt(dir: string) {
  try {
    return await readModelFolder(dir)
  } catch (error) {
    if (!(error instanceof ModelFolderError)) throw error
    const name = 'MB_EMBED_MODEL_DIR'
    throw new ConfigError(`${name} is no embedding model: ${error.message}`, name)
  }
}

const EMBED_SETTINGS = [
  'MB_EMBED_BASE_URL',
  'MB_EMBED_API_KEY',
  'MB_EMBED_MODEL',
  'MB_EMBED_MODEL_DIR',
] as const

export interface SharedEmbeddingNeeds extends EmbeddingNeeds {
  readonly live: LiveSettings
  readonly meters: Meters
  /** In place of a local model. */
  readonly given: Embedder | undefined
}

/** The embedder in use: `given`, else the configured one. */
export async function openSharedEmbedder(needs: SharedEmbeddingNeeds) {
  const { live, given, meters, clock } = needs
  return live.part(
    EMBED_SETTINGS,
    async (config) => {
      const opened =
        given && config.MB_EMBED_BASE_URL === undefined
          ? { embedder: given, description: given.id }
          : await openEmbedding(config, needs)
      const embedder = meterEmbedder(opened.embedder, meters)
      const shared = createSharedEmbedder(embedder, clock)
      return { embedder, shared, description: opened.description }
    },
    ({ embedder }) => embedder.close(),
  )
}
