import type { Clock } from '../../core/clock.ts'
import { createSemaphore } from '../../core/semaphore.ts'
import { timeSlice } from '../../core/time-slice.ts'
import type { Leases } from '../../storage/shared-state.ts'
import type { Apps } from '../apps/service.ts'
import type { Archive } from '../knowledge/index/archive.ts'
import type { DocHead } from '../knowledge/index/archive-store.ts'
import type { SourceArchiveStore } from '../knowledge/sources/archive-store.ts'
import type { McpServers } from '../mcp-servers/service.ts'
import type { Persona } from '../personas/model.ts'
import type { Personas } from '../personas/service.ts'
import type { Prompts } from '../prompts/service.ts'
import type { Settings } from '../settings/service.ts'
import type { CarriedDocument } from './document.ts'
import {
  type ImportParts,
  importApps,
  importMcpServers,
  importPersonas,
  importPrompts,
  importSettings,
} from './import.ts'
import type { ImportDocumentsParts } from './import-documents.ts'
import { createFileImport, type ImportConfig } from './import-file.ts'
import type { ConfigExport, ImportRequest, ImportResult } from './model.ts'

export interface TransferOptions extends ImportParts {
  readonly clock: Clock
  readonly personas: ImportParts['personas'] & ExportParts['personas']
  readonly documents: ExportDocumentsParts & ImportDocumentsParts
  /** Called when documents may wait to be embedded or to be removed. */
  readonly onDocuments: () => void
  readonly leases: Pick<Leases, 'hold'>
}

/** Export and import of a tenant's configuration. */
export function createTransfer(options: TransferOptions) {
  const { clock, documents, onDocuments, leases, ...parts } = options
  const imports = createSemaphore({ perKey: 1 })

  /**
   * Imports what it can and notes the rest. Imports of one tenant run one after another, because
   * each compares with the existing items: an import that is sent twice adds nothing twice.
   */
  const importConfig: ImportConfig = (tenantId, config, mode, notes) =>
    imports.run(tenantId, async () => {
      const run = { ...parts, tenantId, mode, notes }
      return {
        personas: await importPersonas(run, config.personas),
        apps: await importApps(run, config.apps),
        settings: await importSettings(run, config.settings),
        mcp_servers: await importMcpServers(run, config.mcp_servers),
        prompts: await importPrompts(run, config.prompts),
      }
    })

  const loopSlice = () => timeSlice(clock.steady)

  return {
    export: (tenantId: string): Promise<ExportAnswer> => exportConfig(tenantId, parts, clock.iso()),

    /** The documents of an export, which come after the configuration, and their number. */
    async exportDocuments(tenantId: string, confirm: () => Promise<void>) {
      const heads = await documents.docs.heads(tenantId)
      return { count: heads.length, items: exportDocuments(documents, tenantId, heads, confirm) }
    },

    async import(tenantId: string, { config, mode }: ImportRequest): Promise<ImportResult> {
      const notes = { skipped: [], errors: [] }
      const imported = await importConfig(tenantId, config, mode, notes)
      return { imported, ...notes }
    },

    /** Bounds the time that reading a file holds the event loop. */
    slice: loopSlice,

    importFile: createFileImport({ documents, importConfig, onDocuments, leases, loopSlice }),
  }
}

export type Transfer = ReturnType<typeof createTransfer>

export interface ExportParts {
  readonly personas: Pick<Personas, 'heads' | 'each'>
  readonly apps: Pick<Apps, 'list'>
  readonly settings: Pick<Settings, 'get'>
  readonly mcpServers: Pick<McpServers, 'heads'>
  readonly prompts: Pick<Prompts, 'all'>
}

/** A configuration whose personas, up to 24 MB, are read while they are sent. */
export interface ExportAnswer extends Omit<ConfigExport, 'personas'> {
  readonly personas: AsyncIterable<ConfigExport['personas'][number]>
}

/**
 * A tenant's configuration as a document that any tenant can import: names instead of ids, no
 * secrets. Lists are oldest first, so that an import creates the items in their old order.
 */
async function exportConfig(
  tenantId: string,
  { personas, apps, settings, mcpServers, prompts }: ExportParts,
  at: string,
): Promise<ExportAnswer> {
  const heads = await personas.heads(tenantId)
  const names = new Map(heads.map(({ id, name }) => [id, name]))
  const { apps: published } = await apps.list(tenantId)
  // The importing tenant keeps its name.
  const { name: _, ...carried } = await settings.get(tenantId)
  const texts = (await prompts.all(tenantId))
    .map(({ name, title, text }) => ({ name, title, text }))
    .reverse()
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
    settings: carried,
    mcp_servers: (await mcpServers.heads(tenantId)).map(({ id: _, ...head }) => head).reverse(),
    ...(texts.length > 0 ? { prompts: texts } : {}),
  }
}

async function* withoutIds(personas: AsyncIterable<Persona>) {
  for await (const { name, prompt, is_default } of personas) {
    yield { name, prompt, is_default: is_default === 1 }
  }
}

export interface ExportDocumentsParts {
  readonly docs: Pick<Archive, 'heads' | 'partsOf' | 'chunks'>
  readonly sources: Pick<SourceArchiveStore, 'carried' | 'unreadPages'>
}

/**
 * The documents of a tenant, read one by one as the client reads. The parts of a source are listed
 * when the first of them is sent, so a page that was read again meanwhile is exported whole in its
 * new version. `confirm` throws once the credential is revoked.
 */
async function* exportDocuments(
  { docs, sources }: ExportDocumentsParts,
  tenantId: string,
  heads: readonly DocHead[],
  confirm: () => Promise<void>,
): AsyncGenerator<CarriedDocument> {
  const carried = new Set<string>()
  for (const head of heads) {
    const { source_id: id } = head
    if (id !== null && carried.has(id)) continue
    await confirm()
    if (id === null) yield* withText([head], null)
    else yield* source(id)
  }
  for (const { id } of await sources.unreadPages(tenantId)) {
    if (!carried.has(id)) yield* source(id)
  }

  async function* source(id: string): AsyncGenerator<CarriedDocument> {
    carried.add(id)
    const row = await sources.carried(tenantId, id)
    if (!row) return
    const { is_named, state, ...rest } = row
    const shown = { id, ...rest, named: is_named === 1, gone: state === 'gone' }
    const parts = await docs.partsOf(tenantId, id)
    if (parts.length > 0) yield* withText(parts, shown)
    else yield { title: row.title, part: null, parts: null, source: shown, chunks: [] }
  }

  async function* withText(
    found: readonly DocHead[],
    source: CarriedDocument['source'],
  ): AsyncGenerator<CarriedDocument> {
    for (const { num, title, created_at, part, parts } of found) {
      const chunks = await docs.chunks(tenantId, num)
      if (chunks.length > 0) yield { title, created_at, part, parts, source, chunks }
    }
  }
}
