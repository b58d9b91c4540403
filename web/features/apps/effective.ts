import type { AppInput, Persona, Settings } from '../../api/types.ts'

/** The level that sets a field: app, else tenant, else platform. */
export type Source = 'app' | 'tenant' | 'platform'

export interface Decided<T> {
  readonly value: T
  readonly from: Source
}

export interface Effective {
  /** Null: the platform's own prompt, which the console does not know. */
  readonly prompt: Decided<string | null> & { readonly persona: string | null }
  readonly model: Decided<string | null>
  readonly thinking: Decided<boolean>
  readonly temperature: Decided<number | null>
  readonly kb: Decided<boolean>
  /** Null: all tools. */
  readonly tools: Decided<readonly string[] | null>
}

/** The settings of a turn of this app, field by field, with the level of each. */
export function effective(
  app: AppInput,
  settings: Settings,
  personas: readonly Persona[],
): Effective {
  return {
    prompt: promptOf(app, personas),
    model: decide(app.model, settings.model),
    thinking: decided(app.thinking, settings.thinking || null, false),
    temperature: decide(app.temperature, settings.temperature),
    kb: { value: app.kb_enabled, from: app.kb_enabled ? 'platform' : 'app' },
    tools: { value: app.tools_enabled, from: app.tools_enabled === null ? 'platform' : 'app' },
  }
}

function promptOf(app: AppInput, personas: readonly Persona[]): Effective['prompt'] {
  if (app.system_prompt !== null) return { value: app.system_prompt, from: 'app', persona: null }
  const own = personas.find(({ id }) => id === app.persona_id)
  if (own) return { value: own.prompt, from: 'app', persona: own.name }
  const shared = personas.find(({ is_default }) => is_default === 1)
  if (shared) return { value: shared.prompt, from: 'tenant', persona: shared.name }
  return { value: null, from: 'platform', persona: null }
}

function decided<T>(app: T | null, tenant: T | null, platform: T): Decided<T> {
  if (app !== null) return { value: app, from: 'app' }
  if (tenant !== null) return { value: tenant, from: 'tenant' }
  return { value: platform, from: 'platform' }
}

const decide = <T>(app: T | null, tenant: T | null): Decided<T | null> =>
  decided<T | null>(app, tenant, null)
