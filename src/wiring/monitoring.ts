import { statSync } from 'node:fs'
import type { Gauge } from 'prom-client'
import type { LlamaServer, ModelState } from '../channels/llama/server.ts'
import { type Availability, availability } from '../channels/openai/models.ts'
import type { Config } from '../config.ts'
import { sameSecret, sha256Hex } from '../core/crypto.ts'
import { type Meters, NO_METERS } from '../core/meters.ts'
import { databasePath } from '../data-folder/data-folder.ts'
import type { MetricsPage } from '../features/site/routes.ts'
import { createStatus, type Finding, type Probe } from '../features/site/status.ts'
import type { Sse } from '../http/sse.ts'
import { sql } from '../storage/db.ts'
import type { Endpoint } from '../upstream/net/upstream-call.ts'
import type { Adapters } from './adapters.ts'
import type { Backups } from './backups.ts'
import type { LocalRecognition } from './voice.ts'

const OFF: Finding = { state: 'off', class: 'not_configured' }
const found = (word: Availability | 'standby'): Finding => ({
  state: word === 'ok' || word === 'standby' ? 'ok' : 'down',
  class: word,
})

type Run = (signal: AbortSignal) => Finding | Promise<Finding>
type Upstreams = Pick<Adapters, 'live' | 'platform' | 'speech' | 'fetch'>

/** A probe for each upstream tells whether it answers. None of them costs money. */
export function upstreamProbes({ live, platform, speech, fetch }: Upstreams) {
  const ask = async (endpoint: Endpoint, signal: AbortSignal) =>
    found(await availability({ ...endpoint, fetch }, signal))
  const voice =
    (kind: 'TTS' | 'ASR', adapter: () => { readonly name: string } | null): Run =>
    (signal) => {
      const config = live.config()
      const baseUrl = config[`MB_${kind}_BASE_URL`]
      if (adapter() === null) return OFF
      if (baseUrl === undefined) return found('ok')
      return baseUrl.startsWith('tcp:')
        ? connects(new URL(baseUrl), signal)
        : ask({ baseUrl, apiKey: config[`MB_${kind}_API_KEY`] ?? '' }, signal)
    }
  const llm: Run = (signal) => {
    const { endpoint, packed } = platform.channel.current
    if (packed) return packedModel(packed)
    return endpoint ? ask(endpoint, signal) : { state: 'off', class: 'offline_responder' }
  }
  const hear = voice('ASR', () => speech.hearing.current.asr)
  const asr: Run = (signal) => {
    const { local } = speech.hearing.current
    return local ? localRecognition(local) : hear(signal)
  }
  return { llm, tts: voice('TTS', () => speech.tts.current), asr, ask }
}

const PACKED: Readonly<Record<ModelState, Finding>> = {
  ready: { state: 'ok', class: 'ok' },
  standby: { state: 'ok', class: 'standby' },
  loading: { state: 'ok', class: 'loading' },
  failed: { state: 'down', class: 'error' },
}

const packedModel = (model: LlamaServer): Finding => PACKED[model.state]

/** Tells how the last recognition ended; a status page must not load the voice pack. */
function localRecognition({ asr, exists, wanted }: LocalRecognition): Finding {
  if (asr === null) {
    if (!wanted && !exists) return OFF
    return { state: wanted ? 'down' : 'off', class: 'files_missing' }
  }
  const lastOk = asr.lastOk()
  return lastOk === false ? { state: 'down', class: 'error' } : found(lastOk ? 'ok' : 'standby')
}

/** The checks of the status page; without the `vital` one the server is down. */
function openProbes(
  adapters: Adapters,
  backups: Backups | null,
): { vital: string; probes: readonly Probe[] } {
  const { live, db } = adapters
  const { llm, tts, asr, ask } = upstreamProbes(adapters)
  const database: Run = async () => {
    const answered = await db.get(sql`SELECT 1 AS answer`).catch(() => null)
    const trouble = (await db.trouble()) ?? (answered === null ? 'error' : null)
    return trouble === null ? found('ok') : { state: 'down', class: trouble }
  }
  const embedding: Run = (signal) => {
    const { MB_EMBED_BASE_URL: baseUrl, MB_EMBED_API_KEY: apiKey = '' } = live.config()
    return baseUrl ? ask({ baseUrl, apiKey }, signal) : localModel(adapters, signal)
  }
  const rerank = (signal: AbortSignal) => {
    const { MB_RERANK_BASE_URL: baseUrl, MB_RERANK_API_KEY: apiKey = '' } = live.config()
    if (baseUrl) return ask({ baseUrl, apiKey }, signal)
    const { rerank: packed } = adapters.modelPack.servers
    return packed ? packedModel(packed) : null
  }
  const backup = () => backups?.finding() ?? null
  const all = { database, backup, llm, embedding, rerank, tts, asr }
  const probes = Object.entries(all).map(([name, run]) => ({
    name,
    run: async (signal: AbortSignal) => run(signal),
  }))
  return { vital: 'database', probes }
}

/**
 * Tells how the last call ended, because a status page must not load the model into memory. After a
 * failure it embeds a word, to see whether the model has recovered.
 */
async function localModel({ embedding }: Adapters, signal: AbortSignal): Promise<Finding> {
  const { embedder } = embedding.current
  if (embedder.lastOk() === false) await embedder.embed(['ping'], 'query', signal)
  return found(embedder.lastOk() === null ? 'standby' : 'ok')
}

/** Whether a TCP connection can be made. */
async function connects({ hostname, port }: URL, signal: AbortSignal): Promise<Finding> {
  const { connect } = await import('node:net')
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), signal })
    const end = (word: Availability) => {
      socket.destroy()
      resolve(found(word))
    }
    socket.once('connect', () => end('ok'))
    socket.once('error', () => end(signal.aborted ? 'timeout' : 'connection_failed'))
  })
}

/** Values that are read at each scrape instead of being counted. */
export interface Gauges {
  readonly streams: () => number
  readonly embeddingTexts: () => number
  readonly sources: (state: 'waiting' | 'reading') => number
  /** Living files of conversations. */
  readonly files: () => number
  /** Null where no backups are made; returns null before the first. */
  readonly backupAge: (() => number | null) | null
  readonly databaseConnections: (() => number) | null
}

export interface Metrics {
  readonly meters: Meters
  readonly watch: (gauges: Gauges) => void
  /** Null when MB_METRICS_TOKEN is not set. */
  readonly page: MetricsPage | null
}

const SOURCE_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** Makes the instruments of one registry. */
async function openInstruments() {
  const { Counter, Gauge, Histogram, Registry } = await import('prom-client')
  const registry = new Registry()
  const registers = [registry]
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name: `moonbase_${name}`, help, labelNames, registers })
  const histogram = (name: string, help: string, labelNames: string[], buckets: number[]) =>
    new Histogram({ name: `moonbase_${name}`, help, labelNames, buckets, registers })
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect(this: Gauge) {
        this.set(read())
      },
    })
  /** A counter that something else counts. */
  const total = (name: string, help: string, read: () => number) =>
    new Counter({
      name,
      help,
      registers,
      collect(this: InstanceType<typeof Counter>) {
        this.reset()
        this.inc(read())
      },
    })
  return { registry, registers, Gauge, counter, histogram, gauge, total }
}

/** Counts the statements that are sent to PostgreSQL. */
function openDatabaseMeters(instruments: Awaited<ReturnType<typeof openInstruments>>) {
  const { counter, histogram } = instruments
  const times = histogram('database_query_seconds', 'Time to its answer', [], SECONDS)
  const errors = counter('database_errors_total', 'Failed questions to the database', [])
  return (seconds: number, failed: boolean) => {
    times.observe(seconds)
    if (failed) errors.inc()
  }
}

/**
 * Counts for Prometheus when MB_METRICS_TOKEN is set; otherwise nothing is counted, and the library
 * that counts is not loaded.
 */
export async function openMetrics(config: Config): Promise<Metrics> {
  const { MB_METRICS_TOKEN } = config
  if (MB_METRICS_TOKEN === undefined) return { meters: NO_METERS, watch() {}, page: null }
  const instruments = await openInstruments()
  const { registry, registers, Gauge, counter, histogram, gauge, total } = instruments
  const requests = counter('http_requests_total', 'Answered requests', [
    'method',
    'route',
    'status',
  ])
  const failures = counter('upstream_failures_total', 'Failed upstream calls', [
    'upstream',
    'reason',
  ])
  const fallbacks = counter('fallbacks_total', 'Turns that fell back to the platform', ['reason'])
  const faults = counter('unexpected_faults_total', 'Errors that nothing awaited', [])
  const readings = histogram(
    'source_seconds',
    'Work on a file or page',
    ['outcome'],
    SOURCE_SECONDS,
  )
  const latency = histogram(
    'http_request_seconds',
    'Time to headers ready',
    ['method', 'route'],
    SECONDS,
  )
  gauge('process_resident_memory_bytes', 'Resident memory', () => process.memoryUsage.rss())
  total('process_cpu_seconds_total', 'Processor time used', () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  })
  gauge('process_uptime_seconds', 'Time since the start', () => process.uptime())
  const database = config.MB_DATABASE_URL === undefined ? null : openDatabaseMeters(instruments)
  if (database === null) {
    const path = databasePath(config.MB_DATA_DIR)
    gauge('moonbase_database_bytes', 'Size of the database file', () => sizeOf(path))
    gauge('moonbase_database_log_bytes', 'Size of the write-ahead log', () => sizeOf(`${path}-wal`))
  }
  const secret = sha256Hex(MB_METRICS_TOKEN)
  return {
    meters: {
      request(method, route, status, seconds) {
        requests.inc({ method, route, status: String(status) })
        latency.observe({ method, route }, seconds)
      },
      upstreamFailed: (upstream, reason) => failures.inc({ upstream, reason }),
      fellBack: (reason) => fallbacks.inc({ reason }),
      sourceEnded: (outcome, seconds) => readings.observe({ outcome }, seconds),
      databaseAsked: database ?? NO_METERS.databaseAsked,
      unexpectedFault: () => faults.inc(),
    },
    watch({ streams, embeddingTexts, sources, files, backupAge, databaseConnections }) {
      for (const state of ['waiting', 'reading'] as const) {
        gauge(`moonbase_sources_${state}`, `Files and pages: ${state}`, () => sources(state))
      }
      gauge('moonbase_files', 'Living files of conversations', files)
      gauge('moonbase_streams_open', 'Open agent streams', streams)
      if (databaseConnections) {
        const help = 'Open connections to the database'
        gauge('moonbase_database_connections', help, databaseConnections)
      }
      gauge('moonbase_embedding_queue_texts', 'Texts waiting for their vector', embeddingTexts)
      if (!backupAge) return
      new Gauge({
        name: 'moonbase_backup_age_seconds',
        help: 'Time since the last good backup was taken',
        registers,
        collect(this: Gauge) {
          const age = backupAge()
          if (age === null) this.remove()
          else this.set(age)
        },
      })
    },
    page: {
      contentType: registry.contentType,
      admits: (token) => sameSecret(sha256Hex(token), secret),
      text: () => registry.metrics(),
    },
  }
}

const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/** What the public pages show of the server's state, and what /metrics shows to its operator. */
export function openSite(
  adapters: Adapters,
  sse: Sse,
  backups: Backups | null,
  sources: Gauges['sources'],
  files: Gauges['files'],
) {
  const { clock, db, metrics, embedding } = adapters
  const embeddingTexts = () => embedding.current.embedder.pending()
  const backupAge = backups?.ageSeconds ?? null
  const databaseConnections = db.connections ?? null
  const waiting = { embeddingTexts, sources, files }
  metrics.watch({ streams: sse.open, ...waiting, backupAge, databaseConnections })
  const status = createStatus({
    clock,
    basis: adapters.live.config,
    ...openProbes(adapters, backups),
  })
  return { status, takesWrites: db.takesWrites, metrics }
}
