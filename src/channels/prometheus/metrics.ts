import { statSync } from 'node:fs'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { sameSecret, sha256Hex } from '../../core/crypto.ts'
import { type Meters, NO_METERS } from '../../core/meters.ts'

/** Values that are read at each scrape instead of being counted. */
export interface Gauges {
  readonly streams: () => number
  readonly embeddingTexts: () => number
  readonly sources: (state: 'waiting' | 'reading') => number
  /** Living files of conversations. */
  readonly files: () => number
  /** Schedules and reminders that are switched on. */
  readonly schedules: () => number
  /** Remembered facts. */
  readonly memories: () => number
  /** Null before the first backup. */
  readonly backupAge: () => number | null
  readonly databaseConnections: (() => number) | null
}

export interface Metrics {
  readonly meters: Meters
  readonly watch: (gauges: Gauges) => void
  /** What Prometheus reads; null where nothing is counted. */
  readonly page: {
    readonly contentType: string
    /** Takes the same time for every wrong token. */
    readonly admits: (token: string) => boolean
    readonly text: () => Promise<string>
  } | null
}

export interface MetricsOptions {
  /** What Prometheus shows to read the page. */
  readonly token: string
  /** The file of the database; null where a server holds it, whose questions are counted. */
  readonly databaseFile: string | null
  readonly process: {
    readonly memoryUsage: { rss(): number }
    cpuUsage(): { readonly user: number; readonly system: number }
    uptime(): number
  }
}

const SOURCE_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** Makes the instruments of one registry. */
function createInstruments() {
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
      collect(this: Counter) {
        this.reset()
        this.inc(read())
      },
    })
  return { registry, registers, counter, histogram, gauge, total }
}

/** Counts the statements that are sent to PostgreSQL. */
function createDatabaseMeters({ counter, histogram }: ReturnType<typeof createInstruments>) {
  const times = histogram('database_query_seconds', 'Time to its answer', [], SECONDS)
  const errors = counter('database_errors_total', 'Failed questions to the database', [])
  return (seconds: number, failed: boolean) => {
    times.observe(seconds)
    if (failed) errors.inc()
  }
}

/** Counts for Prometheus. */
export function createMetrics({ token, databaseFile, process }: MetricsOptions): Metrics {
  const instruments = createInstruments()
  const { registry, registers, counter, histogram, gauge, total } = instruments
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
  const asks = counter('asks_total', 'Answers of people to what turns asked them', ['action'])
  const faults = counter('unexpected_faults_total', 'Errors that nothing awaited', [])
  const runs = counter('runs_total', 'Ended runs', ['status'])
  const deliveries = counter('webhook_deliveries_total', 'Messages to webhooks', ['state'])
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
  const database = databaseFile === null ? createDatabaseMeters(instruments) : null
  if (databaseFile !== null) {
    const logFile = `${databaseFile}-wal`
    gauge('moonbase_database_bytes', 'Size of the database file', () => sizeOf(databaseFile))
    gauge('moonbase_database_log_bytes', 'Size of the write-ahead log', () => sizeOf(logFile))
  }
  const secret = sha256Hex(token)
  return {
    meters: {
      request(method, route, status, seconds) {
        requests.inc({ method, route, status: String(status) })
        latency.observe({ method, route }, seconds)
      },
      upstreamFailed: (upstream, reason) => failures.inc({ upstream, reason }),
      fellBack: (reason) => fallbacks.inc({ reason }),
      runEnded: (status) => runs.inc({ status }),
      sourceEnded: (outcome, seconds) => readings.observe({ outcome }, seconds),
      webhookDelivered: (state) => deliveries.inc({ state }),
      databaseAsked: database ?? NO_METERS.databaseAsked,
      asked: (action) => asks.inc({ action }),
      unexpectedFault: () => faults.inc(),
    },
    watch(gauges) {
      const { streams, embeddingTexts, sources, files, schedules, memories } = gauges
      const { backupAge, databaseConnections } = gauges
      for (const state of ['waiting', 'reading'] as const) {
        gauge(`moonbase_sources_${state}`, `Files and pages: ${state}`, () => sources(state))
      }
      gauge('moonbase_schedules', 'Schedules and reminders that are switched on', schedules)
      gauge('moonbase_files', 'Living files of conversations', files)
      gauge('moonbase_memories', 'Remembered facts', memories)
      gauge('moonbase_streams_open', 'Open agent streams', streams)
      if (databaseConnections) {
        const help = 'Open connections to the database'
        gauge('moonbase_database_connections', help, databaseConnections)
      }
      gauge('moonbase_embedding_queue_texts', 'Texts waiting for their vector', embeddingTexts)
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
      admits: (shown) => sameSecret(sha256Hex(shown), secret),
      text: () => registry.metrics(),
    },
  }
}

const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0
