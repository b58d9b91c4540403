import { type Config, type Environment, loadConfig } from '../config.ts'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/log.ts'
import { onDataDir } from '../data-folder/operator-error.ts'
import { openSecrets } from '../data-folder/secrets.ts'
import { openSpool } from '../data-folder/spool.ts'
import { consolePages } from '../http/console-pages.ts'
import { createJsonParser } from '../http/json-parser.ts'
import { consoleFolder } from '../native/runtime.ts'
import { createToolRegistry } from '../tools/tool-box.ts'
import { createGuardedFetch } from '../upstream/egress/guarded-fetch.ts'
import { createHappyEyeballs, probeConnect } from '../upstream/egress/happy-eyeballs.ts'
import { createHostsFile, createResolver, type DnsQuery } from '../upstream/egress/resolver.ts'
import { createGuard, isListedHost } from '../upstream/egress/url-guard.ts'
import { createUpstreamFetch } from '../upstream/net/upstream-call.ts'
import type { Embedder } from '../upstream/ports/embedder.ts'
import { openMail } from './console.ts'
import { openKnowledge, openSharedEmbedder } from './knowledge.ts'
import { createLiveSettings, type LiveSettings } from './live-settings.ts'
import { openParser } from './machine.ts'
import { openModelPack } from './model-pack.ts'
import { openPlatform } from './models.ts'
import { openMetrics } from './monitoring.ts'
import { openTools } from './services.ts'
import { openStorage, type Storage } from './storage.ts'
import { effectiveConfig, readStoredSettings } from './system.ts'
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

export interface Outside extends EgressParts {
  readonly env: Environment
  readonly log: Logger
  readonly program: Program
  /** Shows a login code on the server's own terminal. */
  readonly printCode: (email: string, code: string) => void
  /** Used in place of the configured one, in tests. */
  readonly embedder?: Embedder
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

async function openOn(
  storage: Storage,
  config: Config,
  metrics: Awaited<ReturnType<typeof openMetrics>>,
  outside: Outside,
) {
  const { clock, log, program } = outside
  const { meters } = metrics
  const fetch = createUpstreamFetch(outside.fetch)
  const { embedWorker, asrWorker, vadWorker, parseWorker, encoderUrl, jsonUrl } = program
  const { runtime, upgradeCopy } = storage
  if (upgradeCopy) log.info('database upgraded', { copy: upgradeCopy })
  const { replaced } = runtime
  if (replaced.length > 0) log.warn('native parts differed', { written: replaced.join(', ') })
  const secrets = onDataDir(config.MB_DATA_DIR, () => openSecrets(config, storage.holdsSealed))
  const sealed = await storage.sealedSettings()
  const stored = readStoredSettings(sealed, secrets.encryption, log)
  const effective = effectiveConfig(outside.env, stored, log)
  const live = createLiveSettings({ config: effective, fallback: config, clock, log })
  const { modelWorker } = program
  const modelPack = openModelPack({ config, clock, log, fetch, modelWorker })
  const { chat, embed, rerank: packedReranker } = modelPack.servers
  // Looks for a model server on this machine while the rest is opened.
  const finding = openPlatform({ live, clock, fetch, packed: chat })
  const parser = openParser(parseWorker, clock)
  const spool = onDataDir(config.MB_DATA_DIR, () => openSpool(config.MB_DATA_DIR))
  const jsonParser = createJsonParser({ clock, workerUrl: jsonUrl })
  const common = { live, clock, log, fetch, meters }
  const speech = await openSpeech({ ...common, asrWorker, encoderUrl, parser })
  const vad = openVad({ config, clock, log, vadWorker, runtime })
  const embedding = await openSharedEmbedder({
    ...common,
    ...{ given: outside.embedder, runtime, embedWorker, packed: embed },
  })
  // Awaited late, because the writer thread starts beside everything above.
  const { db, openShared, reader, scans, turnIndex, ...indexes } = await storage.opening
  const shared = await openShared(log)
  const parts = { ...indexes, db, shared, reader, scans, embedding, packedReranker }
  const kb = await openKnowledge({ ...common, ...parts })
  const egress = openEgress(live, outside)
  const tools = await openTools({ ...common, egress, parser })
  const builtInTools = createToolRegistry(tools, [kb.searchTool])
  const pages = await consolePages(consoleFolder())
  const mailer = await openMail(live)
  const platform = await finding
  const upstreams = {
    modelPack,
    platform,
    speech,
    vad,
    embedding,
    egress,
    parser,
    jsonParser,
    mailer,
  }
  return {
    ...outside,
    config,
    stored,
    live,
    fetch,
    spool,
    ...upstreams,
    db,
    shared,
    pages,
    reader,
    scans,
    turnIndex,
    secrets,
    kb,
    builtInTools,
    metrics,
  }
}

/** One try waits this long for a name server; c-ares doubles it for the next. */
const QUERY_MS_MAX = 2_000
const QUERY_TRIES = 2

export interface EgressParts {
  readonly clock: Clock
  readonly fetch: typeof fetch
  /** Opens a query at the system's name servers; tests ask name servers of their own. */
  readonly openQuery?: () => Promise<DnsQuery>
}

/** Requests to addresses that tenants supply: checked, pinned, never redirected. */
function openEgress(live: LiveSettings, { clock, fetch, openQuery = systemQuery }: EgressParts) {
  const allow = () => live.config().MB_ALLOW_PRIVATE_HOSTS
  const resolve = createResolver({
    clock,
    openQuery,
    hostsFile: createHostsFile('/etc/hosts'),
    systemLookup: async (name) => {
      const { lookup } = await import('node:dns/promises')
      return lookup(name, { all: true })
    },
    isListed: (name) => isListedHost(name, allow()),
  })
  const chooseAddress = createHappyEyeballs({ clock, probeConnect })
  return {
    fetchFor: createGuardedFetch({ guard: createGuard({ resolve, allow }), fetch, chooseAddress }),
    /** The guard without exceptions, for addresses that others will connect to. */
    publicOnly: createGuard({ resolve, allow: () => [] }),
  }
}

export type Egress = ReturnType<typeof openEgress>

/** A resolver for each query: it can be cancelled alone and reads resolv.conf as it is now. */
async function systemQuery(): Promise<DnsQuery> {
  const { Resolver } = await import('node:dns/promises')
  return new Resolver({ timeout: QUERY_MS_MAX, tries: QUERY_TRIES })
}
