import type { App } from '../apps/model.ts'
import type { Persona } from '../personas/model.ts'
import type { TenantSettings } from '../settings/model.ts'
import type { ConfigExport } from './model.ts'

/**
 * A tenant's configuration as a document that any tenant can import: names instead of ids, no
 * secrets. Lists are oldest first, so that an import creates the items in their old order.
 */
export function exportConfig(
  personas: readonly Persona[],
  apps: readonly App[],
  settings: TenantSettings,
  at: string,
): ConfigExport {
  const names = new Map(personas.map(({ id, name }) => [id, name]))
  return {
    format_version: 1,
    exported_at: at,
    personas: personas
      .map(({ name, prompt, is_default }) => ({ name, prompt, is_default: is_default === 1 }))
      .reverse(),
    apps: apps
      .map(({ id: _, created_at: __, persona_id, ...app }) => ({
        ...app,
        persona_ref: names.get(persona_id ?? '') ?? null,
      }))
      .reverse(),
    settings,
  }
}
