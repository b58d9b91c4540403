import type { Clock } from '../../core/clock.ts'
import { createSemaphore } from '../../core/semaphore.ts'
import { timeSlice } from '../../core/time-slice.ts'
import type { Leases } from '../../storage/shared-state.ts'
import type { Apps, ChangedBy } from '../apps/service.ts'
import type { CollectionService } from '../knowledge/collections/service.ts'
import type { Archive } from '../knowledge/index/archive.ts'
import type { DocHead } from '../knowledge/index/archive-store.ts'
import type { SourceArchiveStore } from '../knowledge/sources/archive-store.ts'
import type { McpServers } from '../mcp-servers/service.ts'
import type { Persona } from '../personas/model.ts'
import type { Personas } from '../personas/service.ts'
import type { Prompts } from '../prompts/service.ts'
import type { Schedules } from '../runs/schedules.ts'
import type { Settings } from '../settings/service.ts'
import type { Webhooks } from '../webhooks/service.ts'
import type { CarriedDocument } from './document.ts'
import {
  type ImportParts,
  importApps,
  importCollections,
  importMcpServers,
  importPersonas,
  importPrompts,
  importSchedules,
  importSettings,
  importWebhooks,
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
  const importConfig: ImportConfig = (by, config, mode, notes) =>
    imports.run(by.tenantId, async () => {
      const run = { ...parts, tenantId: by.tenantId, by, mode, notes }
      return {
        personas: await importPersonas(run, config.personas),
        collections: await importCollections(run, config.collections),
        apps: await importApps(run, config.apps),
        settings: await importSettings(run, config.settings),
        mcp_servers: await importMcpServers(run, config.mcp_servers),
        prompts: await importPrompts(run, config.prompts),
        schedules: await importSchedules(run, config.schedules),
        webhooks: await importWebhooks(run, config.webhooks),
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

    async import(by: ChangedBy, { config, mode }: ImportRequest): Promise<ImportResult> {
      const notes = { skipped: [], errors: [] }
      const imported = await importConfig(by, config, mode, notes)
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
  readonly webhooks: Pick<Webhooks, 'carried'>
  readonly collections: Pick<CollectionService, 'all' | 'names'>
  readonly schedules: Pick<Schedules, 'all'>
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
  parts: ExportParts,
  at: string,
): Promise<ExportAnswer> {
  const { personas, apps, settings, mcpServers, prompts, collections, schedules, webhooks } = parts
  const heads = await personas.heads(tenantId)
  const names = new Map(heads.map(({ id, name }) => [id, name]))
  const { apps: published } = await apps.list(tenantId)
  // The importing tenant keeps its name.
  const { name: _, ...carried } = await settings.get(tenantId)
  const texts = (await prompts.all(tenantId))
    .map(({ name, title, text }) => ({ name, title, text }))
    .reverse()
  const told = await webhooks.carried(tenantId)
  const known = new Map((await collections.names(tenantId)).map(({ id, name }) => [id, name]))
  const named = (list: readonly string[] | null) => list?.map((id) => known.get(id) ?? id) ?? null
  const grouped = (await collections.all(tenantId))
    .map(({ name, description }) => ({ name, description }))
    .reverse()
  const appNames = new Map(published.map(({ id, name }) => [id, name]))
  const timed = (await schedules.all(tenantId))
    .map(({ name, cron, at, time_zone, text, app_id, session, max_model_calls }) => ({
      name,
      cron,
      at,
      time_zone,
      text,
      app_ref: appNames.get(app_id ?? '') ?? null,
      session,
      max_model_calls,
      enabled: false as const,
    }))
    .reverse()
  return {
    format_version: 1,
    exported_at: at,
    personas: withoutIds(personas.each(tenantId, heads.toReversed())),
    apps: published
      .map(({ id: _, created_at: __, persona_id, may_ask, reminders, icon, greeting, ...rest }) => {
        const { description, starters, ...app } = rest
        return {
          ...withoutNull(app, 'memory'),
          // What an app does not have is left out, as older servers know none of it.
          ...(may_ask === null ? {} : { may_ask }),
          ...(reminders === null ? {} : { reminders }),
          ...(icon === null ? {} : { icon }),
          ...(description === null ? {} : { description }),
          ...(greeting === null ? {} : { greeting }),
          ...(starters.length === 0 ? {} : { starters }),
          collections: named(app.collections),
          persona_ref: names.get(persona_id ?? '') ?? null,
        }
      })
      .reverse(),
    settings: carried.collections
      ? { ...carried, collections: named(carried.collections) }
      : carried,
    mcp_servers: (await mcpServers.heads(tenantId)).map(({ id: _, ...head }) => head).reverse(),
    ...(texts.length > 0 ? { prompts: texts } : {}),
    ...(told.length > 0 ? { webhooks: told } : {}),
    ...(grouped.length > 0 ? { collections: grouped } : {}),
    ...(timed.length > 0 ? { schedules: timed } : {}),
  }
}

async function* withoutIds(personas: AsyncIterable<Persona>) {
  for await (const { name, prompt, is_default } of personas) {
    yield { name, prompt, is_default: is_default === 1 }
  }
}

export interface ExportDocumentsParts {
  readonly collections: Pick<CollectionService, 'names'>
  readonly docs: Pick<Archive, 'heads' | 'partsOf' | 'chunks'>
  readonly sources: Pick<SourceArchiveStore, 'carried' | 'unreadPages'>
}

/**
 * The documents of a tenant, read one by one as the client reads. The parts of a source are listed
 * when the first of them is sent, so a page that was read again meanwhile is exported whole in its
 * new version. `confirm` throws once the credential is revoked.
 */
async function* exportDocuments(
  { docs, sources, collections }: ExportDocumentsParts,
  tenantId: string,
  heads: readonly DocHead[],
  confirm: () => Promise<void>,
): AsyncGenerator<CarriedDocument> {
  const carried = new Set<string>()
  const living = (await collections.names(tenantId)).filter(({ gone }) => gone === 0)
  const names = new Map(living.map(({ id, name }) => [id, name]))
  const nameOf = (id: string | null) => names.get(id ?? '') ?? null
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
    const { is_named, state, collection_id, ...rest } = row
    const shown = { id, ...rest, named: is_named === 1, gone: state === 'gone' }
    const parts = await docs.partsOf(tenantId, id)
    if (parts.length > 0) yield* withText(parts, shown)
    else {
      const collection = nameOf(collection_id)
      yield { title: row.title, part: null, parts: null, source: shown, chunks: [], collection }
    }
  }

  async function* withText(
    found: readonly DocHead[],
    source: CarriedDocument['source'],
  ): AsyncGenerator<CarriedDocument> {
    for (const { num, title, created_at, part, parts, collection_id } of found) {
      const chunks = await docs.chunks(tenantId, num)
      const collection = nameOf(collection_id)
      if (chunks.length > 0) yield { title, created_at, part, parts, source, chunks, collection }
    }
  }
}

/** The fields, without the one of this name where it is null. */
function withoutNull<Fields, Name extends keyof Fields>(fields: Fields, name: Name) {
  const { [name]: value, ...others } = fields
  return value === null ? others : { ...others, [name]: value }
}
