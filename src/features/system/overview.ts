import { type Clock, DAY_MS } from '../../core/clock.ts'
import type { MemoryBudget } from '../../core/memory-budget.ts'
import type { TurnCounts } from '../agent/turn-counts.ts'
import type { Status } from '../site/status.ts'
import type { LastBackup, OverviewResponse } from './machine-model.ts'
import type { SystemStore } from './store.ts'

export interface OverviewOptions {
  readonly version: string
  readonly store: Pick<SystemStore, 'peopleOn'>
  readonly clock: Pick<Clock, 'now' | 'iso'>
  readonly budget: Pick<MemoryBudget, 'used'>
  readonly turnsOfHour: TurnCounts['lastHour']
  /** Stores what was counted of usage, so that it is read, too. */
  readonly flush: () => Promise<void>
  readonly status: Status['read']
  readonly lastBackup: () => LastBackup | null
  readonly uptimeSeconds: () => number
  readonly rssBytes: () => number
  readonly disk: () => Promise<OverviewResponse['disk']>
}

/** The server in numbers, for its operators. */
export function createOverview(options: OverviewOptions) {
  const { store, clock } = options

  async function channel(): Promise<OverviewResponse['channel']> {
    const { checks } = await options.status()
    const llm = checks.find(({ name }) => name === 'llm')
    const ok = llm?.state === 'ok'
    return { ok, class: ok ? null : (llm?.class ?? null), at: clock.iso() }
  }

  return async (): Promise<OverviewResponse> => {
    await options.flush()
    const rows = options.turnsOfHour()
    const sum = (kind: 'turns' | 'failures') => rows.reduce((all, row) => all + row[kind], 0)
    const day = Math.floor(clock.now() / DAY_MS)
    return {
      version: options.version,
      uptime_s: Math.floor(options.uptimeSeconds()),
      disk: await options.disk(),
      memory: {
        rss_bytes: options.rssBytes(),
        budget_used_bytes: Math.round(options.budget.used),
      },
      people_today: await store.peopleOn(day),
      turns_hour: sum('turns'),
      failures_hour: sum('failures'),
      by_door: rows,
      last_backup: options.lastBackup(),
      channel: await channel(),
    }
  }
}
