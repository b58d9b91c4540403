import type { LlamaServer } from '../channels/llama/server.ts'
import { createOnnxEmbedder } from '../channels/onnx/embedder.ts'
import { ModelFolderError, readModelFolder } from '../channels/onnx/model-folder.ts'
import { createOpenAiEmbedder } from '../channels/openai/embedder.ts'
import { createReranker } from '../channels/openai/reranker.ts'
import { type Config, ConfigError } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/log.ts'
import type { Meters } from '../core/meters.ts'
import { createEmbeddings } from '../features/embeddings/service.ts'
import { createFileSearch } from '../features/knowledge/files/search.ts'
import { createFileTextStore } from '../features/knowledge/files/store.ts'
import { createArchive } from '../features/knowledge/index/archive.ts'
import { createArchiveStore } from '../features/knowledge/index/archive-store.ts'
import { createSharedEmbedder } from '../features/knowledge/index/embedding.ts'
import { createPartStore } from '../features/knowledge/index/part-store.ts'
import { createPrepare } from '../features/knowledge/index/prepare.ts'
import { createReembed } from '../features/knowledge/index/reembed.ts'
import { createStaleStore } from '../features/knowledge/index/stale-store.ts'
import { createKbStore } from '../features/knowledge/index/store.ts'
import { createCalibration } from '../features/knowledge/search/calibration.ts'
import {
  addCitations,
  type Citation,
  createCitationWrite,
  keyOfCitation,
} from '../features/knowledge/search/citation-store.ts'
import { createSearch } from '../features/knowledge/search/search.ts'
import { createKb, createSearchTool } from '../features/knowledge/service.ts'
import { createWriteBehindSums } from '../jobs/write-behind.ts'
import { type NativeRuntime, onnxEnv } from '../native/runtime.ts'
import type { Db, Reader } from '../storage/db.ts'
import type { VectorIndex, WordIndex } from '../storage/indexes.ts'
import type { SharedState } from '../storage/shared-state.ts'
import type { UpstreamFetch } from '../upstream/net/upstream-call.ts'
import type { Embedder, Reranker } from '../upstream/ports/embedder.ts'
import type { ChannelFailure } from '../upstream/ports/failure.ts'
import { rerankerBreaker } from '../upstream/resilience/breaker.ts'
import { meterEmbedder } from '../upstream/resilience/metered.ts'
import type { LiveSettings } from './live-settings.ts'

const REMOTE_TIMEOUT_MS = 30_000
/** A person waits for the search. */
const RERANK_TIMEOUT_MS = 1_500

export interface EmbeddingOptions {
  readonly config: Config
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
export async function openEmbedding(options: EmbeddingOptions): Promise<Embedding> {
  const { config, clock, log } = options
  const baseUrl = config.MB_EMBED_BASE_URL
  if (baseUrl) {
    const model = config.MB_EMBED_MODEL ?? null
    const embedder = createOpenAiEmbedder({
      fetch: options.fetch,
      clock,
      baseUrl,
      apiKey: config.MB_EMBED_API_KEY ?? '',
      model,
      timeoutMs: REMOTE_TIMEOUT_MS,
    })
    const name = model ?? 'the first embedding model it lists'
    return { embedder, description: `${name} at ${new URL(baseUrl).host}` }
  }
  if (options.packed && config.MB_EMBED_MODEL_DIR === undefined)
    return packedEmbedding(options.packed, clock)
  const dir = config.MB_EMBED_MODEL_DIR ?? options.runtime.modelDir
  const model = await modelAt(dir)
  const command = { argv: [...options.embedWorker, dir], ...onnxEnv(options.runtime) }
  const embedder = createOnnxEmbedder({ model, command, clock, log })
  return { embedder, description: `${model.name}, on this machine` }
}

/** Such a text has at most 2,048 tokens, the window that the pack's model gets (model-pack.ts). */
const PACK_UNITS_MAX = 1_500

function packedEmbedding({ name, endpoint, fetch }: LlamaServer, clock: Clock): Embedding {
  const timeoutMs = REMOTE_TIMEOUT_MS
  const embedder = createOpenAiEmbedder({ ...endpoint, fetch, clock, model: name, timeoutMs })
  // Without the port: it changes with each start, and the vectors do not.
  const id = `pack:${name}`
  return {
    embedder: { ...embedder, id, identify: async () => id, lengthMax: PACK_UNITS_MAX },
    description: `${name}, of the model pack`,
  }
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

/** The embedder in use: `given`, else the configured one. */
export async function openSharedEmbedder(options: SharedEmbeddingOptions) {
  const { live, given, meters, clock } = options
  return live.part(
    EMBED_SETTINGS,
    async (config) => {
      const opened =
        given && config.MB_EMBED_BASE_URL === undefined
          ? { embedder: given, description: given.id }
          : await openEmbedding({ ...options, config })
      const embedder = meterEmbedder(opened.embedder, meters)
      const shared = createSharedEmbedder(embedder, clock)
      return { embedder, shared, description: opened.description }
    },
    ({ embedder }) => embedder.close(),
  )
}

export interface SharedEmbeddingOptions extends Omit<EmbeddingOptions, 'config'> {
  readonly live: LiveSettings
  readonly meters: Meters
  /** In place of a local model. */
  readonly given: Embedder | undefined
}

export type OpenedEmbedding = Awaited<ReturnType<typeof openSharedEmbedder>>

const RERANK_SETTINGS = ['MB_RERANK_BASE_URL', 'MB_RERANK_API_KEY', 'MB_RERANK_MODEL'] as const

/** The reranker that is configured, or that of the model pack. */
function openReranker({ live, clock, log, fetch, packedReranker }: KnowledgeOptions) {
  const onOpen = ({ reason }: ChannelFailure) => log.warn('reranker skipped', { reason })
  return live.part(RERANK_SETTINGS, (config): Reranker | null => {
    const { MB_RERANK_BASE_URL: baseUrl, MB_RERANK_API_KEY: apiKey = '' } = config
    const timeoutMs = RERANK_TIMEOUT_MS
    if (baseUrl === undefined) {
      if (!packedReranker) return null
      const { name, endpoint, fetch: ask } = packedReranker
      const packed = { ...endpoint, fetch: ask, clock, model: name, timeoutMs }
      return rerankerBreaker(createReranker(packed), { clock, onOpen })
    }
    const model = config.MB_RERANK_MODEL ?? null
    const reranker = createReranker({ fetch, clock, baseUrl, apiKey, model, timeoutMs })
    return rerankerBreaker(reranker, { clock, onOpen })
  })
}

export interface KnowledgeOptions {
  readonly live: LiveSettings
  readonly db: Db
  readonly shared: Pick<SharedState, 'leases'>
  readonly reader: Reader
  readonly scans: Reader
  readonly vectors: VectorIndex
  readonly words: WordIndex
  readonly nextNum?: (() => Promise<number>) | undefined
  readonly embedding: OpenedEmbedding
  readonly clock: Clock
  readonly log: Logger
  readonly fetch: UpstreamFetch
  readonly meters: Meters
  /** The reranking model of the model pack. */
  readonly packedReranker?: LlamaServer | undefined
}

export type Knowledge = Awaited<ReturnType<typeof openKnowledge>>

/** The knowledge base with its two indexes. */
export async function openKnowledge(options: KnowledgeOptions) {
  const { live, db, shared, reader, scans, vectors, words, embedding, clock, log, meters } = options
  const limits = {
    docsMax: live.config().MB_KB_MAX_DOCS,
    docBytesMax: live.config().MB_KB_MAX_DOC_KB * 1024,
  }
  const stored = { db, vectors, words, ...limits }
  const store = createKbStore({ ...stored, reader, nextNum: options.nextNum })
  const calibrationOf = createCalibration({ store, vectors, clock })
  const reranker = await openReranker(options)
  const search = createSearch({
    ...{ store, embedding, vectors, words, calibrationOf, meters, log },
    reranker,
  })
  const fileTexts = createFileTextStore({ db, reader })
  const searchFiles = createFileSearch({
    ...{ texts: fileTexts, embedding, vectors, words, calibrationOf, meters, log, reranker },
  })
  const prepare = createPrepare({ embedding, clock })
  const citations = createWriteBehindSums<Citation>({
    ...{ clock, log, name: 'citations', keyOf: keyOfCitation, addTo: addCitations },
    write: createCitationWrite(db, clock),
  })
  const archiveStore = createArchiveStore({ db, reader: scans })
  const progress = (tenantId: string) =>
    archiveStore.progress(tenantId, embedding.current.shared.lastId())
  const service = createKb({ store, prepare, limits, search, clock, citations, progress })
  return {
    service,
    citations,
    services: { kb: service, embeddings: createEmbeddings(embedding) },
    parts: createPartStore({ ...stored, store, prepare }),
    limits,
    archive: createArchive({ store, archive: archiveStore, limits, clock }),
    reembed: createReembed({
      store: createStaleStore({ db, vectors, words }),
      embedding,
      ...{ leases: shared.leases, clock, log },
    }),
    files: { texts: fileTexts, search: searchFiles },
    searchTool: createSearchTool(service.retrieve),
  }
}
