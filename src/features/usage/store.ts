import type { Count } from '../../jobs/write-behind.ts'
import { type Db, sql } from '../../storage/db.ts'

/** One authenticated machine call (specification, Usage event). `day` is days since the epoch. */
export interface UsageEvent {
  readonly tenantId: string
  readonly appId: string | null
  readonly day: number
}

/** Calls of one key are counted together. */
export const usageKey = ({ tenantId, appId, day }: UsageEvent): string =>
  `${tenantId}/${day}/${appId ?? ''}`

/** Calls by tenant, day and app. */
export function createUsageStore(db: Db) {
  return {
    async write(calls: readonly Count<UsageEvent>[]): Promise<void> {
      await db.batch(
        calls.map(
          ({ item, count }) => sql`
            INSERT INTO usage_day (tenant_id, day, app_id, calls)
            VALUES (${item.tenantId}, ${item.day}, ${item.appId ?? ''}, ${count})
            ON CONFLICT (tenant_id, day, app_id) DO UPDATE SET calls = calls + excluded.calls`,
        ),
      )
    },

    /** The calls of a tenant in all, those of each day from `since` on, and its number of keys. */
    async report(tenantId: string, since: number) {
      const sums = await db.get<{ total: number; keyCount: number }>(sql`
        SELECT
          (SELECT coalesce(sum(calls), 0) FROM usage_day WHERE tenant_id = ${tenantId}) AS total,
          (SELECT count(*) FROM api_key WHERE tenant_id = ${tenantId}) AS keyCount`)
      const days = await db.all<{ day: number; count: number }>(sql`
        SELECT day, sum(calls) AS count FROM usage_day
        WHERE tenant_id = ${tenantId} AND day >= ${since} GROUP BY day`)
      return { total: sums?.total ?? 0, keyCount: sums?.keyCount ?? 0, days }
    },
  }
}

export type UsageStore = ReturnType<typeof createUsageStore>
