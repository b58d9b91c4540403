import type { Metrics } from '../channels/prometheus/metrics.ts'
import type { Config } from '../config.ts'
import { NO_METERS } from '../core/meters.ts'
import { databasePath } from '../data-folder/data-folder.ts'

/**
 * Counts for Prometheus when MB_METRICS_TOKEN is set; otherwise nothing is counted, and the library
 * that counts is not loaded.
 */
export async function openMetrics(config: Config): Promise<Metrics> {
  const { MB_METRICS_TOKEN: token, MB_DATABASE_URL: url, MB_DATA_DIR: folder } = config
  if (token === undefined) return { meters: NO_METERS, watch() {}, page: null }
  const { createMetrics } = await import('../channels/prometheus/metrics.ts')
  const databaseFile = url === undefined ? databasePath(folder) : null
  return createMetrics({ token, databaseFile, process })
}
