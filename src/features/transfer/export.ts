import type { Apps } from '../apps/service.ts'
import type { Persona } from '../personas/model.ts'
import type { Personas } from '../personas/service.ts'
import type { Settings } from '../settings/service.ts'
import type { ConfigExport } from './model.ts'

export interface ExportParts {
  readonly personas: Pick<Personas, 'heads' | 'each'>
  readonly apps: Pick<Apps, 'list'>
  readonly settings: Pick<Settings, 'get'>
}

/** A configuration whose personas, up to 24 MB, are read while they are sent. */
export interface ExportAnswer extends Omit<ConfigExport, 'personas'> {
  readonly personas: AsyncIterable<ConfigExport['personas'][number]>
}

/**
 * A tenant's configuration as a document that any tenant can import: names instead of ids, no
 * secrets. Lists are oldest first, so that an import creates the items in their old order.
 */
export async function exportConfig(
  tenantId: string,
  { personas, apps, settings }: ExportParts,
  at: string,
): Promise<ExportAnswer> {
  const heads = await personas.heads(tenantId)
  const names = new Map(heads.map(({ id, name }) => [id, name]))
  const { apps: published } = await apps.list(tenantId)
  return {
    format_version: 1,
    exported_at: at,
    personas: withoutIds(personas.each(tenantId, heads.toReversed())),
    apps: published
      .map(({ id: _, created_at: __, persona_id, ...app }) => ({
        ...app,
        persona_ref: names.get(persona_id ?? '') ?? null,
      }))
      .reverse(),
    settings: await settings.get(tenantId),
  }
}

async function* withoutIds(personas: AsyncIterable<Persona>) {
  for await (const { name, prompt, is_default } of personas) {
    yield { name, prompt, is_default: is_default === 1 }
  }
}
