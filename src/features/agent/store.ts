import { REFERENCE_CHARS_MAX } from '../../core/limits/contract.ts'
import type { Principal } from '../../core/principal.ts'
import { type Db, sql } from '../../storage/db.ts'
import type { MemorySwitch, NamedContext, StoredConfig } from './turn-config.ts'

interface ConfigRow {
  app_id: string | null
  system_prompt: string | null
  app_model: string | null
  app_thinking: number | null
  app_temperature: number | null
  kb_enabled: number | null
  tools_enabled: string | null
  model: string | null
  thinking: number | null
  temperature: number | null
  mcp_tools: string | null
  collections: string | null
  tenant_collections: string | null
  app_persona: string | null
  request_persona: string | null
  default_persona: string | null
  app_name: string | null
  device_name?: string | null
  email?: string | null
  time_zone: string | null
  language: 'zh' | 'en' | null
  titles: number | null
  reminders: number | null
  app_reminders: number | null
  app_remembers: MemorySwitch | null
  remembers: MemorySwitch | null
  app_may_ask: number | null
  may_ask: number | null
}

/** Who asks, as far as prompts name them. */
export type Asking = Pick<Principal, 'deviceId' | 'userId'>

const NOBODY: Asking = { deviceId: null, userId: null }

/** `?`: the persona of the request. */
const COLUMNS = `
  SELECT a.id AS app_id, a.system_prompt, a.model AS app_model, a.thinking AS app_thinking,
    a.temperature AS app_temperature, a.kb_enabled, a.tools_enabled,
    a.collections, s.collections AS tenant_collections,
    s.model, s.thinking, s.temperature, s.mcp_tools, s.time_zone, s.language, s.titles,
    s.reminders, a.reminders AS app_reminders,
    a.may_ask AS app_may_ask, s.may_ask, a.remembers AS app_remembers, s.remembers,
    a.name AS app_name,
    (SELECT prompt FROM persona WHERE tenant_id = t.id AND id = a.persona_id) AS app_persona,
    (SELECT prompt FROM persona WHERE tenant_id = t.id AND id = ?) AS request_persona,
    (SELECT prompt FROM persona WHERE tenant_id = t.id AND is_default = 1) AS default_persona`

/** Columns apart: the row of others is kept in memory, as these tables are written often. */
const NAMES = `,
    (SELECT name FROM device WHERE tenant_id = t.id AND id = ?) AS device_name,
    (SELECT email FROM "user" WHERE id = ?) AS email`

/** `?`: app and tenant. */
const TABLES = `
  FROM tenant t
    LEFT JOIN app a ON a.tenant_id = t.id AND a.id = ?
    LEFT JOIN tenant_settings s ON s.tenant_id = t.id
  WHERE t.id = ?`

// Joined once: a text that each turn makes anew is read whole to find what is known of it.
const CONFIG = COLUMNS + TABLES
const CONFIG_WITH_NAMES = COLUMNS + NAMES + TABLES

const flagOf = (value: number | null) => (value === null ? null : value === 1)

/** Reads the configuration of turns. */
export function createTurnConfigStore(db: Db) {
  return {
    /** The whole configuration of a turn, in one statement. */
    async load(
      tenantId: string,
      appId: string | null,
      requestPersonaId: string | null,
      { deviceId, userId }: Asking = NOBODY,
    ) {
      // No persona has an id longer than this.
      const isPossible = (requestPersonaId?.length ?? 0) <= REFERENCE_CHARS_MAX
      const personaId = isPossible ? requestPersonaId : null
      const row = await db.get<ConfigRow>(
        deviceId === null && userId === null
          ? { sql: CONFIG, args: [personaId, appId, tenantId] }
          : { sql: CONFIG_WITH_NAMES, args: [personaId, deviceId, userId, appId, tenantId] },
      )
      return configOf(row)
    },

    /** Whether the app, if there is one, uses the knowledge base. */
    async usesKb({ tenantId, appId }: Pick<Principal, 'tenantId' | 'appId'>): Promise<boolean> {
      if (appId === null) return true
      const row = await db.get<{ kb_enabled: number }>(
        sql`SELECT kb_enabled FROM app WHERE tenant_id = ${tenantId} AND id = ${appId}`,
      )
      return row?.kb_enabled !== 0
    },
  }
}

export type TurnConfigStore = ReturnType<typeof createTurnConfigStore>

function configOf(row: ConfigRow | null): StoredConfig {
  return {
    app: row?.app_id ? appOf(row) : null,
    settings: {
      model: row?.model ?? null,
      thinking: flagOf(row?.thinking ?? null),
      temperature: row?.temperature ?? null,
      mcpTools: namesIn(row?.mcp_tools),
      collections: listIn(row?.tenant_collections ?? null),
      titles: row?.titles !== 0,
      reminders: flagOf(row?.reminders ?? null),
      memory: row?.remembers ?? null,
      mayAsk: flagOf(row?.may_ask ?? null),
    },
    appPersona: row?.app_persona ?? null,
    requestPersona: row?.request_persona ?? null,
    defaultPersona: row?.default_persona ?? null,
    named: namedOf(row),
  }
}

const namedOf = (row: ConfigRow | null): NamedContext => ({
  timeZone: row?.time_zone ?? null,
  language: row?.language ?? null,
  appName: row?.app_name ?? null,
  deviceName: row?.device_name ?? null,
  email: row?.email ?? null,
})

const listIn = (json: string | null) => (json === null ? null : (JSON.parse(json) as string[]))

/** Skips parsing the empty list, which nearly every tenant has. */
const namesIn = (json: string | null | undefined): readonly string[] =>
  json && json !== '[]' ? (JSON.parse(json) as string[]) : []

function appOf(row: ConfigRow): StoredConfig['app'] {
  return {
    systemPrompt: row.system_prompt,
    model: row.app_model,
    thinking: flagOf(row.app_thinking),
    temperature: row.app_temperature,
    kbEnabled: row.kb_enabled !== 0,
    toolsEnabled: listIn(row.tools_enabled),
    collections: listIn(row.collections),
    reminders: flagOf(row.app_reminders),
    memory: row.app_remembers,
    mayAsk: flagOf(row.app_may_ask),
  }
}
