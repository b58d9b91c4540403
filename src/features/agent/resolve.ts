import { DEFAULT_PERSONA } from './prompt.ts'

/** What the tenant's rows say, null where a level says nothing. */
export interface TurnContext {
  readonly app: AppConfig | null
  readonly settings: TenantConfig
  /** Prompt of the app's persona, when it still exists. */
  readonly appPersona: string | null
  /** Prompt of the persona that the request names, when the tenant has it. */
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
 * The whole field-by-field fallback app, tenant, platform and the prompt priority (specification,
 * Agent and sessions). Pure, so that the table is tested as a table.
 */
export function resolveTurn(context: TurnContext, request: RequestedTurn): ResolvedTurn {
  const { app, settings } = context
  return {
    prompt:
      said(app?.systemPrompt) ??
      said(app ? context.appPersona : null) ??
      requested(context, request) ??
      said(context.defaultPersona) ??
      DEFAULT_PERSONA,
    model: app?.model ?? settings.model,
    thinking: app?.thinking ?? settings.thinking ?? false,
    temperature: app?.temperature ?? settings.temperature,
    kb: request.kb && (app?.kbEnabled ?? true),
    tools: app?.toolsEnabled ?? null,
  }
}

/** `persona_id` overrides `persona`, also when it is not found (contract, Fine points). */
function requested(context: TurnContext, request: RequestedTurn): string | null {
  if (said(request.persona_id)) return said(context.requestPersona)
  return said(request.persona)
}

/** Blank counts as nothing said. */
function said(text: string | null | undefined): string | null {
  return text && text.trim() !== '' ? text : null
}
