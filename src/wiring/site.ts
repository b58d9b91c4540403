import { createStatus } from '../features/site/status.ts'
import type { Sse } from '../http/sse.ts'
import type { Adapters } from './adapters.ts'
import { openProbes } from './probes.ts'

/** What the public pages show of the server's state, and what /metrics shows to its operator. */
export function openSite(adapters: Adapters, sse: Sse) {
  const { clock, db, metrics, embedder } = adapters
  metrics.watch({ streams: sse.open, embeddingTexts: embedder.pending })
  const status = createStatus({ clock, ...openProbes(adapters) })
  return { status, takesWrites: db.takesWrites, metrics }
}
