import { statSync } from 'node:fs'
import type { Gauge } from 'prom-client'
import type { Config } from '../config.ts'
import { sameSecret, sha256Hex } from '../core/crypto.ts'
import { type Meters, NO_METERS } from '../core/meters.ts'
import { databasePath } from '../data-folder/data-folder.ts'
import type { MetricsPage } from '../features/site/routes.ts'

/** Values that are read at each scrape instead of being counted. */
export interface Gauges {
  readonly streams: () => number
  readonly embeddingTexts: () => number
  readonly sources: (state: 'waiting' | 'reading') => number
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
    watch({ streams, embeddingTexts, sources, backupAge, databaseConnections }) {
      for (const state of ['waiting', 'reading'] as const) {
        gauge(`moonbase_sources_${state}`, `Files and pages: ${state}`, () => sources(state))
      }
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
