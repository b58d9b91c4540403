import { type Db, type Statement, sql } from '../../storage/db.ts'

/** What a tenant may use, and one of its people in the console; 0: no limit. */
export interface DailyLimits {
  readonly tenant: number
  readonly person: number
}

export interface TenantRow {
  readonly id: string
  readonly name: string | null
  readonly members: number
  readonly keys: number
  readonly docs: number
  readonly tokens_today: number
  readonly daily_tokens: number
  readonly max_docs: number | null
  readonly disabled: number
}

export interface TenantLimits {
  readonly daily_tokens: number
  readonly max_docs: number | null
  readonly disabled: boolean
}

/** Limits of tenants and of their people. */
export function createTenantLimitStore(db: Db) {
  const rows = (day: number, where: string, args: readonly string[]): Statement => ({
    sql: `SELECT t.id, t.name, t.daily_tokens, t.max_docs, t.disabled,
      (SELECT count(*) FROM member m WHERE m.tenant_id = t.id AND m.user_id IS NOT NULL) AS members,
      (SELECT count(*) FROM api_key k WHERE k.tenant_id = t.id AND k.revoked_at IS NULL) AS keys,
      (SELECT count(*) FROM kb_doc d WHERE d.tenant_id = t.id AND d.stage = 'live') AS docs,
      coalesce((SELECT sum(u.input_tokens + u.output_tokens) FROM usage_day u
        WHERE u.tenant_id = t.id AND u.day = ?), 0) AS tokens_today
      FROM tenant t WHERE t.gone_at IS NULL ${where} ORDER BY t.created_at, t.id`,
    args: [day, ...args],
  })

  return {
    async of(tenantId: string, userId: string | null): Promise<DailyLimits> {
      // Apart, because its row is kept in memory: every turn of a key reads it.
      if (userId === null) {
        const row = await db.get<{ daily_tokens: number }>(
          sql`SELECT daily_tokens FROM tenant WHERE id = ${tenantId}`,
        )
        return { tenant: row?.daily_tokens ?? 0, person: 0 }
      }
      const row = await db.get<DailyLimits>(sql`
        SELECT t.daily_tokens AS tenant, coalesce((SELECT m.daily_tokens FROM member m
          WHERE m.tenant_id = t.id AND m.user_id = ${userId}), 0) AS person
        FROM tenant t WHERE t.id = ${tenantId}`)
      return row ?? { tenant: 0, person: 0 }
    },

    list: (day: number) => db.all<TenantRow>(rows(day, '', [])),
    find: (day: number, id: string) => db.get<TenantRow>(rows(day, 'AND t.id = ?', [id])),

    /** The addresses of owners, by tenant. */
    owners: () =>
      db.all<{ tenant_id: string; email: string }>(sql`
        SELECT tenant_id, email FROM member WHERE role = 'owner' AND user_id IS NOT NULL
        ORDER BY invited_at, id`),

    async set(id: string, { daily_tokens, max_docs, disabled }: TenantLimits): Promise<void> {
      await db.run(sql`
        UPDATE tenant SET daily_tokens = ${daily_tokens}, max_docs = ${max_docs},
          disabled = ${disabled ? 1 : 0}
        WHERE id = ${id} AND gone_at IS NULL`)
    },
  }
}

export type TenantLimitStore = ReturnType<typeof createTenantLimitStore>
