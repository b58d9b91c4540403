import { type Db, sql } from '../../storage/db.ts'
import type { TenantSettings } from './model.ts'

/** Settings by tenant. There is no row until the tenant sets something. */
export function createSettingsStore(db: Db) {
  return {
    /** Null when the tenant has never set anything. */
    async find(tenantId: string): Promise<TenantSettings | null> {
      const row = await db.get<Omit<TenantSettings, 'thinking'> & { thinking: number }>(sql`
        SELECT model, thinking, temperature FROM tenant_settings WHERE tenant_id = ${tenantId}`)
      return row && { ...row, thinking: row.thinking === 1 }
    },

    async put(tenantId: string, { model, thinking, temperature }: TenantSettings): Promise<void> {
      await db.run(sql`
        INSERT INTO tenant_settings (tenant_id, model, thinking, temperature)
        VALUES (${tenantId}, ${model}, ${thinking ? 1 : 0}, ${temperature})
        ON CONFLICT (tenant_id) DO UPDATE SET model = excluded.model,
          thinking = excluded.thinking, temperature = excluded.temperature`)
    },
  }
}

export type SettingsStore = ReturnType<typeof createSettingsStore>
