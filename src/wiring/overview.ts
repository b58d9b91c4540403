import { statfs } from 'node:fs/promises'
import { version } from '../../package.json'
import type { MemoryBudget } from '../core/memory-budget.ts'
import type { TurnCounts } from '../features/agent/turn-counts.ts'
import type { Status } from '../features/site/status.ts'
import { createOverview } from '../features/system/overview.ts'
import { createSystemStore } from '../features/system/store.ts'
import type { Usage } from '../features/usage/service.ts'
import type { Adapters } from './adapters.ts'
import type { Backups } from './backups.ts'

interface OverviewNeeds {
  readonly budget: MemoryBudget
  readonly turnCounts: TurnCounts
  readonly usage: Usage
  readonly status: Status
  readonly backups: Backups
}

/** Wires the server in numbers. */
export const openOverview = ({ clock, config, db }: Adapters, needs: OverviewNeeds) =>
  createOverview({
    version,
    store: createSystemStore(db),
    clock,
    budget: needs.budget,
    turnsOfHour: needs.turnCounts.lastHour,
    flush: needs.usage.flush,
    status: needs.status.read,
    lastBackup: needs.backups.routes.last,
    uptimeSeconds: process.uptime,
    rssBytes: process.memoryUsage.rss,
    async disk() {
      const { bsize, blocks, bfree, bavail } = await statfs(config.MB_DATA_DIR)
      return { used_bytes: (blocks - bfree) * bsize, free_bytes: bavail * bsize }
    },
  })
