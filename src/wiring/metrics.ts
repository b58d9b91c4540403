import { statSync } from 'node:fs'
import type { Gauge } from 'prom-client'
import type { Config } from '../config.ts'
import { sameSecret, sha256Hex } from '../core/crypto.ts'
import { type Meters, NO_METERS } from '../core/meters.ts'
import { databasePath } from '../data-folder/data-folder.ts'
import type { MetricsPage } from '../features/site/metrics-routes.ts'

/** What is read at each scrape and counted nowhere. */
export interface Gauges {
  readonly streams: () => number
  readonly embeddingTexts: () => number
}

export interface Metrics {
  readonly meters: Meters
  readonly watch: (gauges: Gauges) => void
  /** Null where nobody may scrape. */
  readonly page: MetricsPage | null
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/**
 * Counts for Prometheus when MB_METRICS_TOKEN is set; else nothing is counted, and the library that
 * counts is not even loaded.
 */
export async function openMetrics({ MB_METRICS_TOKEN, MB_DATA_DIR }: Config): Promise<Metrics> {
  if (MB_METRICS_TOKEN === undefined) return { meters: NO_METERS, watch() {}, page: null }
  const { Counter, Gauge, Histogram, Registry } = await import('prom-client')
  const registry = new Registry()
  const registers = [registry]
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name: `moonbase_${name}`, help, labelNames, registers })
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
  const latency = new Histogram({
    name: 'moonbase_http_request_seconds',
    help: 'Time to headers ready',
    labelNames: ['method', 'route'],
    buckets: SECONDS,
    registers,
  })
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect(this: Gauge) {
        this.set(read())
      },
    })
  gauge('process_resident_memory_bytes', 'Resident memory', () => process.memoryUsage.rss())
  gauge('process_cpu_seconds_total', 'Processor time used', () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  })
  gauge('process_uptime_seconds', 'Time since the start', () => process.uptime())
  gauge('moonbase_database_bytes', 'Size of the database file', () =>
    sizeOf(databasePath(MB_DATA_DIR)),
  )
  gauge('moonbase_database_log_bytes', 'Size of the write-ahead log', () =>
    sizeOf(`${databasePath(MB_DATA_DIR)}-wal`),
  )
  const secret = sha256Hex(MB_METRICS_TOKEN)
  return {
    meters: {
      request(method, route, status, seconds) {
        requests.inc({ method, route, status: String(status) })
        latency.observe({ method, route }, seconds)
      },
      upstreamFailed: (upstream, reason) => failures.inc({ upstream, reason }),
      fellBack: (reason) => fallbacks.inc({ reason }),
    },
    watch({ streams, embeddingTexts }) {
      gauge('moonbase_streams_open', 'Open agent streams', streams)
      gauge('moonbase_embedding_queue_texts', 'Texts waiting for their vector', embeddingTexts)
    },
    page: {
      contentType: registry.contentType,
      admits: (token) => sameSecret(sha256Hex(token), secret),
      text: () => registry.metrics(),
    },
  }
}

const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0
