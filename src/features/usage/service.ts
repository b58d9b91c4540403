import { type Clock, DAY_MS } from '../../core/clock.ts'
import { USAGE_DAYS } from '../../core/limits/contract.ts'
import type { UsageResponse } from './model.ts'
import type { UsageEvent, UsageStore } from './store.ts'

export interface UsageOptions {
  readonly store: UsageStore
  readonly clock: Clock
  /** Counts calls before they are stored. */
  readonly counter: { add(event: UsageEvent): void; flush(): Promise<void> }
}

/** How much a tenant calls (specification, Usage event; contract, Usage). */
export function createUsage({ store, clock, counter }: UsageOptions) {
  const today = () => Math.floor(clock.now() / DAY_MS)

  return {
    /** Counts one authenticated machine call. */
    count(call: { readonly tenantId: string; readonly appId: string | null }): void {
      counter.add({ tenantId: call.tenantId, appId: call.appId, day: today() })
    },

    /** Each of the last days, with zero where there was no call. Answered calls are included. */
    async report(tenantId: string): Promise<UsageResponse> {
      await counter.flush()
      const last = today()
      const { total, keyCount, days } = await store.report(tenantId, last - USAGE_DAYS + 1)
      const calls = new Map(days.map(({ day, count }) => [day, count]))
      const daily = Array.from({ length: USAGE_DAYS }, (_, index) => {
        const day = last - USAGE_DAYS + 1 + index
        return { day, count: calls.get(day) ?? 0 }
      })
      return { total, daily, key_count: keyCount }
    },
  }
}

export type Usage = ReturnType<typeof createUsage>
