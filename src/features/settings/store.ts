import { type Db, type Statement, sql } from '../../storage/db.ts'
import type { TenantSettings } from './model.ts'

interface Row {
  model: string | null
  thinking: number
  temperature: number | null
  price_in: number | null
  price_out: number | null
  /** A JSON array. */
  mcp_tools: string
  time_zone: string | null
  language: 'zh' | 'en' | null
}

/** Settings by tenant. There is no row until the tenant sets something. */
export function createSettingsStore(db: Db) {
  return {
    /** Null when the tenant has never set anything. */
    async find(tenantId: string): Promise<TenantSettings | null> {
      const row = await db.get<Row>(sql`
        SELECT model, thinking, temperature, price_in, price_out, mcp_tools, time_zone, language
        FROM tenant_settings WHERE tenant_id = ${tenantId}`)
      if (!row) return null
      const { price_in, price_out, thinking, mcp_tools, time_zone, language, ...settings } = row
      return {
        ...settings,
        thinking: thinking === 1,
        ...(price_in === null ? {} : { price_in }),
        ...(price_out === null ? {} : { price_out }),
        ...(time_zone === null ? {} : { time_zone }),
        ...(language === null ? {} : { language }),
        mcp_tools: JSON.parse(mcp_tools) as string[],
      }
    },

    /** Replaces the settings, in one transaction with further statements. */
    async put(
      tenantId: string,
      settings: TenantSettings,
      ...also: readonly Statement[]
    ): Promise<void> {
      const { model, thinking, temperature, price_in = null, price_out = null } = settings
      const { time_zone = null, language = null } = settings
      const put = sql`
        INSERT INTO tenant_settings (tenant_id, model, thinking, temperature, price_in, price_out,
          mcp_tools, time_zone, language)
        VALUES (${tenantId}, ${model}, ${thinking ? 1 : 0}, ${temperature}, ${price_in},
          ${price_out}, ${JSON.stringify(settings.mcp_tools)}, ${time_zone}, ${language})
        ON CONFLICT (tenant_id) DO UPDATE SET model = excluded.model,
          thinking = excluded.thinking, temperature = excluded.temperature,
          price_in = excluded.price_in, price_out = excluded.price_out,
          mcp_tools = excluded.mcp_tools, time_zone = excluded.time_zone,
          language = excluded.language`
      await db.batch([put, ...also])
    },
  }
}

export type SettingsStore = ReturnType<typeof createSettingsStore>
