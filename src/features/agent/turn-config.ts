import { REFERENCE_CHARS_MAX } from '../../core/limits/contract.ts'
import { type Db, sql } from '../../storage/db.ts'
import { DEFAULT_PERSONA } from './prompt.ts'

/** The stored configuration that decides a turn; null where a level sets nothing. */
export interface StoredConfig {
  readonly app: AppConfig | null
  readonly settings: TenantConfig
  /** Prompt of the app's persona; null when the persona was deleted. */
  readonly appPersona: string | null
  /** Prompt of the persona that the request names; null when the tenant has no such persona. */
  readonly requestPersona: string | null
  readonly defaultPersona: string | null
}

export interface AppConfig {
  readonly systemPrompt: string | null
  readonly model: string | null
  readonly thinking: boolean | null
  readonly temperature: number | null
  readonly kbEnabled: boolean
  /** Null: all built-in tools; empty: none. */
  readonly toolsEnabled: readonly string[] | null
}

export interface TenantConfig {
  readonly model: string | null
  readonly thinking: boolean | null
  readonly temperature: number | null
}

export interface RequestedTurn {
  readonly persona?: string | undefined
  readonly persona_id?: string | undefined
  readonly kb: boolean
}

export interface ResolvedTurn {
  readonly prompt: string
  /** Null: the channel's default model. */
  readonly model: string | null
  readonly thinking: boolean
  readonly temperature: number | null
  readonly kb: boolean
  readonly tools: readonly string[] | null
}

/**
 * Resolves each field by the fallback app, tenant, platform, and the prompt by its priority
 * (specification, Agent and sessions). Pure, so that tests can go through the whole table.
 */
export function resolveTurn(config: StoredConfig, request: RequestedTurn): ResolvedTurn {
  const { app, settings } = config
  return {
    prompt:
      nonBlank(app?.systemPrompt) ??
      nonBlank(app ? config.appPersona : null) ??
      requestedPrompt(config, request) ??
      nonBlank(config.defaultPersona) ??
      DEFAULT_PERSONA,
    model: app?.model ?? settings.model,
    thinking: app?.thinking ?? settings.thinking ?? false,
    temperature: app?.temperature ?? settings.temperature,
    kb: request.kb && (app?.kbEnabled ?? true),
    tools: app?.toolsEnabled ?? null,
  }
}

/** `persona_id` overrides `persona`, also when it is not found (contract, Fine points). */
function requestedPrompt(config: StoredConfig, request: RequestedTurn): string | null {
  if (nonBlank(request.persona_id)) return nonBlank(config.requestPersona)
  return nonBlank(request.persona)
}

/** Blank text counts as not given. */
function nonBlank(text: string | null | undefined): string | null {
  return text && text.trim() !== '' ? text : null
}

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
  app_persona: string | null
  request_persona: string | null
  default_persona: string | null
}

const flagOf = (value: number | null) => (value === null ? null : value === 1)

/** Reads the configuration of turns. */
export function createTurnConfigStore(db: Db) {
  return {
    /** Everything that a turn is resolved from, in one statement. */
    async load(tenantId: string, appId: string | null, requestPersonaId: string | null) {
      // Our ids are shorter. A longer one would be kept in memory as a key of the row cache.
      const isPossible = (requestPersonaId?.length ?? 0) <= REFERENCE_CHARS_MAX
      const personaId = isPossible ? requestPersonaId : null
      const row = await db.get<ConfigRow>(sql`
        SELECT a.id AS app_id, a.system_prompt, a.model AS app_model, a.thinking AS app_thinking,
          a.temperature AS app_temperature, a.kb_enabled, a.tools_enabled,
          s.model, s.thinking, s.temperature,
          (SELECT prompt FROM persona WHERE tenant_id = t.id AND id = a.persona_id) AS app_persona,
          (SELECT prompt FROM persona WHERE tenant_id = t.id AND id = ${personaId})
            AS request_persona,
          (SELECT prompt FROM persona WHERE tenant_id = t.id AND is_default = 1) AS default_persona
        FROM tenant t
          LEFT JOIN app a ON a.tenant_id = t.id AND a.id = ${appId}
          LEFT JOIN tenant_settings s ON s.tenant_id = t.id
        WHERE t.id = ${tenantId}`)
      return configOf(row)
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
    },
    appPersona: row?.app_persona ?? null,
    requestPersona: row?.request_persona ?? null,
    defaultPersona: row?.default_persona ?? null,
  }
}

function appOf(row: ConfigRow): StoredConfig['app'] {
  return {
    systemPrompt: row.system_prompt,
    model: row.app_model,
    thinking: flagOf(row.app_thinking),
    temperature: row.app_temperature,
    kbEnabled: row.kb_enabled !== 0,
    toolsEnabled: row.tools_enabled === null ? null : (JSON.parse(row.tools_enabled) as string[]),
  }
}
