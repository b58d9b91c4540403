import { type Clock, DAY_MS } from '../../core/clock.ts'
import type { RemovalStore } from './removal-store.ts'

export interface RemovalOptions {
  readonly store: RemovalStore
  readonly clock: Pick<Clock, 'now'>
  /** Removes a source with its file and its documents. */
  readonly removeSource: (tenantId: string, id: string) => Promise<unknown>
  /** Removes hidden documents. */
  readonly sweep: () => Promise<void>
}

/** Usage and log rows are written late, and refer to their tenant. */
const KEPT_MS = DAY_MS

/**
 * Removes what tenants without a member hold. It may be interrupted and run anew, also by several
 * servers at once: each step leaves less.
 */
export function createRemoval({ store, clock, removeSource, sweep }: RemovalOptions) {
  return {
    async run(): Promise<void> {
      for (const { id } of await store.gone()) {
        // Another server may have removed it.
        for (const source of await store.sources(id)) await removeSource(id, source).catch(() => {})
        await store.retireDocuments(id)
        await sweep()
        await store.removeRows(id)
      }
    },

    /** Removes the tenants themselves that hold nothing any more. */
    async prune(): Promise<void> {
      for (const { id, gone_at } of await store.gone()) {
        if (clock.now() - gone_at >= KEPT_MS) await store.removeTenant(id)
      }
    },
  }
}

export type Removal = ReturnType<typeof createRemoval>
