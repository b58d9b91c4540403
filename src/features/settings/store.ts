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
  /** A JSON array. */
  collections: string | null
  titles: number
  reminders: number | null
  remembers: TenantSettings['memory'] | null
  may_ask: number | null
  ocr: 'scans' | null
  ocr_model: string | null
}

/** Settings by tenant. There is no row until the tenant sets something. */
export function createSettingsStore(db: Db) {
  return {
    /** Null when the tenant has never set anything. */
    async find(tenantId: string): Promise<TenantSettings | null> {
      const row = await db.get<Row>(sql`
        SELECT model, thinking, temperature, price_in, price_out, mcp_tools, time_zone, language,
          titles, may_ask, collections, remembers, reminders, ocr, ocr_model
        FROM tenant_settings WHERE tenant_id = ${tenantId}`)
      if (!row) return null
      const { price_in, price_out, thinking, mcp_tools, time_zone, language, titles, may_ask } = row
      const { model, temperature, collections, remembers, reminders, ocr, ocr_model } = row
      return {
        model,
        temperature,
        thinking: thinking === 1,
        titles: titles === 1,
        ocr: ocr ?? 'off',
        ocr_model,
        ...(price_in === null ? {} : { price_in }),
        ...(price_out === null ? {} : { price_out }),
        ...(time_zone === null ? {} : { time_zone }),
        ...(language === null ? {} : { language }),
        ...(may_ask === null ? {} : { may_ask: may_ask === 1 }),
        ...(collections === null ? {} : { collections: JSON.parse(collections) as string[] }),
        ...(reminders === null ? {} : { reminders: reminders === 1 }),
        ...(remembers ? { memory: remembers } : {}),
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
      const { time_zone = null, language = null, memory = null, may_ask, reminders } = settings
      const mayAsk = may_ask === undefined ? null : Number(may_ask)
      const mayRemind = reminders === undefined ? null : Number(reminders)
      const ocr = settings.ocr === 'off' ? null : settings.ocr
      const listed = settings.collections ? JSON.stringify(settings.collections) : null
      const put = sql`
        INSERT INTO tenant_settings (tenant_id, model, thinking, temperature, price_in, price_out,
          mcp_tools, time_zone, language, titles, may_ask, collections, remembers, reminders,
          ocr, ocr_model)
        VALUES (${tenantId}, ${model}, ${thinking ? 1 : 0}, ${temperature}, ${price_in},
          ${price_out}, ${JSON.stringify(settings.mcp_tools)}, ${time_zone}, ${language},
          ${settings.titles ? 1 : 0}, ${mayAsk}, ${listed}, ${memory}, ${mayRemind},
          ${ocr}, ${settings.ocr_model})
        ON CONFLICT (tenant_id) DO UPDATE SET model = excluded.model,
          thinking = excluded.thinking, temperature = excluded.temperature,
          price_in = excluded.price_in, price_out = excluded.price_out,
          mcp_tools = excluded.mcp_tools, time_zone = excluded.time_zone,
          language = excluded.language, titles = excluded.titles, remembers = excluded.remembers,
          may_ask = excluded.may_ask, reminders = excluded.reminders,
          ocr = excluded.ocr, ocr_model = excluded.ocr_model,
          collections = CASE ${settings.collections === undefined ? 1 : 0}
            WHEN 1 THEN tenant_settings.collections ELSE excluded.collections END`
      await db.batch([put, ...also])
    },
  }
}

export type SettingsStore = ReturnType<typeof createSettingsStore>
