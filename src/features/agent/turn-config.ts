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
