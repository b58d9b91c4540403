import { type Db, sql } from '../../storage/db.ts'

/** One authenticated machine call (specification, Usage event). `day` is days since the epoch. */
export interface UsageEvent {
  readonly tenantId: string
  readonly appId: string | null
  readonly day: number
}

export function createUsageStore(db: Db) {
  return {
    async write(events: readonly UsageEvent[]): Promise<void> {
      const calls = new Map<string, { event: UsageEvent; count: number }>()
      for (const event of events) {
        const name = `${event.tenantId}/${event.day}/${event.appId ?? ''}`
        const entry = calls.get(name)
        if (entry) entry.count += 1
        else calls.set(name, { event, count: 1 })
      }
      await db.batch(
        [...calls.values()].map(
          ({ event, count }) => sql`
            INSERT INTO usage_day (tenant_id, day, app_id, calls)
            VALUES (${event.tenantId}, ${event.day}, ${event.appId ?? ''}, ${count})
            ON CONFLICT (tenant_id, day, app_id) DO UPDATE SET calls = calls + excluded.calls`,
        ),
      )
    },

    /** All calls of a tenant, those of each day from `since` on, and its keys. */
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
