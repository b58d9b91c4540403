import type { Metrics } from '../channels/prometheus/metrics.ts'
import { type Config, type Environment, loadConfig } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/log.ts'
import { onDataDir } from '../data-folder/operator-error.ts'
import { openSecrets } from '../data-folder/secrets.ts'
import { openSpool } from '../data-folder/spool.ts'
import { createMailHealth } from '../features/login/mail-health.ts'
import { consolePages } from '../http/console-pages.ts'
import { createJsonParser } from '../http/json-parser.ts'
import { consoleFolder } from '../native/runtime.ts'
import type { DnsQuery } from '../upstream/egress/resolver.ts'
import { createUpstreamFetch } from '../upstream/net/upstream-call.ts'
import type { Embedder } from '../upstream/ports/embedder.ts'
import { openEgress } from './egress.ts'
import { openSharedEmbedder } from './embedding.ts'
import { createLiveSettings } from './live-settings.ts'
import { openParser } from './machine.ts'
import { openMail } from './mail.ts'
import { openMetrics } from './metrics.ts'
import { openModelPack } from './model-pack.ts'
import { openPlatform } from './models.ts'
import { openReranker } from './reranker.ts'
import { openStorage, type Storage } from './storage.ts'
import { effectiveConfig, readStoredSettings } from './stored-settings.ts'
import { openTools } from './tools.ts'
import { openSpeech, openVad } from './voice.ts'

/** Commands and addresses of the program's own processes and threads (commands/program.ts). */
export interface Program {
  /** The commands that start its child processes. */
  readonly embedWorker: readonly string[]
  readonly asrWorker: readonly string[]
  readonly vadWorker: readonly string[]
  readonly parseWorker: readonly string[]
  readonly backup: readonly string[]
  /** The program that serves a model, and its arguments, are appended to it. */
  readonly modelWorker: readonly string[]
  /** Addresses of its threads. */
  readonly writerUrl: string
  readonly readerUrl: string
  readonly encoderUrl: string
  readonly jsonUrl: string
}

export interface Outside {
  readonly env: Environment
  readonly clock: Clock
  readonly log: Logger
  readonly program: Program
  readonly fetch: typeof fetch
  /** Shows a login code on the server's own terminal. */
  readonly printCode: (email: string, code: string) => void
  /** Used in place of the configured one, in tests. */
  readonly embedder?: Embedder
  /** Opens a query at other name servers than the system's, in tests. */
  readonly openQuery?: () => Promise<DnsQuery>
}

export type Adapters = Awaited<ReturnType<typeof openAdapters>>

/** Opens every part that reaches outside the program: files, threads, processes, upstreams. */
export async function openAdapters(outside: Outside) {
  const { clock, log, program } = outside
  // The settings that only the environment can set, such as the data folder, are read first.
  const config = loadConfig(outside.env)
  const metrics = await openMetrics(config)
  const storage = await openStorage(config, { clock, log, program, meters: metrics.meters })
  return openOn(storage, config, metrics, outside).catch(async (error: unknown) => {
    // A refused start removes the files of an empty folder, which threads would make again.
    const opened = await storage.opening.catch(() => null)
    await opened?.db.close()
    throw error
  })
}

async function openOn(storage: Storage, config: Config, metrics: Metrics, outside: Outside) {
  const { env, clock, log, program, printCode, openQuery, embedder: given } = outside
  const { embedWorker, asrWorker, vadWorker, parseWorker, modelWorker } = program
  const { meters } = metrics
  const { runtime, upgradeCopy } = storage
  if (upgradeCopy) log.info('database upgraded', { copy: upgradeCopy })
  const { replaced } = runtime
  if (replaced.length > 0) log.warn('native parts differed', { written: replaced.join(', ') })
  const fetch = createUpstreamFetch(outside.fetch)
  const secrets = onDataDir(config.MB_DATA_DIR, () => openSecrets(config, storage.holdsSealed))
  const sealed = await storage.sealedSettings()
  const stored = readStoredSettings(sealed, secrets.encryption, log)
  const effective = effectiveConfig(env, stored, log)
  const live = createLiveSettings({ config: effective, fallback: config, clock, log })
  const modelPack = openModelPack({ config, clock, log, fetch, modelWorker })
  const { chat, embed, rerank } = modelPack.servers
  // Looks for a model server on this machine while the rest is opened.
  const finding = openPlatform({ live, clock, fetch, packed: chat })
  const parser = openParser(parseWorker, clock)
  const spool = onDataDir(config.MB_DATA_DIR, () => openSpool(config.MB_DATA_DIR))
  const jsonParser = createJsonParser({ clock, workerUrl: program.jsonUrl })
  const speech = await openSpeech({
    live,
    clock,
    log,
    fetch,
    meters,
    asrWorker,
    encoderUrl: program.encoderUrl,
    parser,
  })
  const vad = openVad({ config, clock, log, vadWorker, runtime })
  const embedding = await openSharedEmbedder({
    live,
    clock,
    log,
    fetch,
    meters,
    runtime,
    embedWorker,
    packed: embed,
    given,
  })
  const reranker = await openReranker({ live, clock, log, fetch, packed: rerank })
  const egress = openEgress({ live, clock, fetch: outside.fetch, openQuery })
  const tools = await openTools({ live, clock, fetch, egress, parser })
  const pages = await consolePages(consoleFolder())
  const mailer = await openMail(live)
  // Awaited late, because the writer thread starts beside everything above.
  const { db, openShared, reader, scans, vectors, words, turnIndex, nextNum } =
    await storage.opening
  const shared = await openShared(log)
  const mailHealth = createMailHealth({ clock, announcer: shared.announcer })
  const platform = await finding
  return {
    env,
    clock,
    log,
    program,
    printCode,
    config,
    stored,
    live,
    fetch,
    secrets,
    metrics,
    spool,
    db,
    shared,
    reader,
    scans,
    vectors,
    words,
    turnIndex,
    nextNum,
    modelPack,
    platform,
    speech,
    vad,
    embedding,
    reranker,
    egress,
    tools,
    parser,
    jsonParser,
    mailer,
    mailHealth,
    pages,
  }
}
