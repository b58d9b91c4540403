import { AppError, appError } from '../../core/errors.ts'
import { IMPORT_ITEMS_MAX } from '../../core/limits/machine.ts'
import type { TimeSlice } from '../../core/time-slice.ts'
import { type Leases, leaseName } from '../../storage/shared-state.ts'
import type { ChangedBy } from '../apps/service.ts'
import { beginDocuments, type ImportDocumentsParts } from './import-documents.ts'
import type { ImportRequest, ImportResult } from './model.ts'
import type { Mode, Notes } from './plan.ts'

type Config = Pick<
  ImportRequest['config'],
  | 'personas'
  | 'apps'
  | 'mcp_servers'
  | 'prompts'
  | 'collections'
  | 'schedules'
  | 'webhooks'
  | 'settings'
>
type Imported = Omit<ImportResult['imported'], 'documents'>

export type ImportConfig = (
  by: ChangedBy,
  config: Config,
  mode: Mode,
  notes: Notes,
) => Promise<Imported>

export interface FileImportParts {
  readonly documents: ImportDocumentsParts
  readonly importConfig: ImportConfig
  readonly onDocuments: () => void
  readonly leases: Pick<Leases, 'hold'>
  readonly loopSlice: () => TimeSlice
}

/** A field of the file, or one item of a list in it (http/json-stream.ts). */
export interface FileValue {
  readonly field: string
  readonly value: unknown
  readonly bytes: number
}

export interface FileUpload {
  /** Throws 401 when the credential was revoked meanwhile. */
  readonly confirm: () => Promise<void>
  /** Counts bytes that are kept in memory. Throws `memory_full`. */
  readonly hold: (bytes: number) => void
  /** Called before the first part of the file is stored. */
  readonly onImport: () => void
}

/** Items of a list beyond the imported ones are only counted, up to this number. */
const COUNTED_MAX = 100 * IMPORT_ITEMS_MAX

const emptyConfig = (): Config => ({
  personas: [],
  apps: [],
  mcp_servers: [],
  prompts: [],
  collections: [],
  schedules: [],
  webhooks: [],
})

/** Collects the parts of a file before its documents, which are small. */
function createConfig(hold: FileUpload['hold']) {
  let config: Config = emptyConfig()
  let isEmpty = true
  return {
    add({ field, value, bytes }: FileValue): void {
      isEmpty = false
      if (field === 'settings') {
        config = { ...config, settings: value }
        return
      }
      const list = config[field as Exclude<keyof Config, 'settings'>]
      if (list.length >= COUNTED_MAX) return
      if (list.length < IMPORT_ITEMS_MAX) hold(bytes)
      list.push(list.length < IMPORT_ITEMS_MAX ? value : null)
    },
    /** Returns and forgets the collected parts; null when there are none. */
    take(): Config | null {
      const taken = isEmpty ? null : config
      config = emptyConfig()
      isEmpty = true
      return taken
    },
  }
}

const NOTHING: Imported = {
  personas: 0,
  apps: 0,
  settings: false,
  mcp_servers: 0,
  prompts: 0,
  collections: 0,
  schedules: 0,
  webhooks: 0,
}

/**
 * Imports a file of any size as it arrives: the configuration when the first document comes, then
 * one document after another. Of a truncated file everything before the cut is imported; the report
 * says where it ends. A tenant imports one file at a time, on all servers, because each import
 * compares with the existing items.
 */
export function createFileImport(parts: FileImportParts) {
  const { documents, importConfig, onDocuments, leases, loopSlice } = parts

  async function run(
    by: ChangedBy,
    mode: Mode,
    values: AsyncIterable<FileValue>,
    { confirm, hold, onImport }: FileUpload,
    lease: AbortSignal,
  ): Promise<ImportResult> {
    const notes: Notes = { skipped: [], errors: [] }
    const config = createConfig(hold)
    const onWrite = async () => {
      await confirm()
      onImport()
    }
    const docs = await beginDocuments(documents, { tenantId: by.tenantId, mode, notes, onWrite })
    let imported: Imported | null = null
    let isKnown = false

    async function takeConfig(): Promise<void> {
      if (!isKnown) throw appError('format_version')
      const taken = config.take()
      if (taken === null && imported !== null) return
      await confirm()
      if (taken) onImport()
      const added = taken ? await importConfig(by, taken, mode, notes) : NOTHING
      imported = sum(imported ?? NOTHING, added)
    }

    /** Another process gives up what is stored and not shown once the lease is lost. */
    function checkLease(): void {
      if (lease.aborted) throw importRunning()
    }

    async function take(one: FileValue): Promise<void> {
      checkLease()
      if (one.field === 'format_version') {
        if (one.value !== 1) throw appError('format_version')
        isKnown = true
      } else if (one.field === 'documents') {
        await takeConfig()
        await docs.add(one.value)
      } else config.add(one)
    }

    const slice = loopSlice()
    let complete = false
    try {
      for await (const one of values) {
        await take(one)
        if (docs.isHopeless()) break
        if (slice.isOver()) await slice.next()
      }
      checkLease()
      if (!docs.isHopeless()) await takeConfig()
      complete = !docs.isHopeless()
      await docs.end(complete ? 'whole' : 'refused')
    } catch (error) {
      if (!complete) await docs.end('broken')
      // Reports what was imported, unless the credential was revoked meanwhile.
      if (imported === null || !isBrokenOff(error)) throw error
    }
    const counted = { ...(imported ?? NOTHING), documents: docs.imported() }
    return { imported: counted, complete, ...notes }
  }

  return async (
    by: ChangedBy,
    mode: Mode,
    values: AsyncIterable<FileValue>,
    upload: FileUpload,
  ): Promise<ImportResult> => {
    const { promise, resolve } = Promise.withResolvers<ImportResult>()
    const work = async (lease: AbortSignal) => resolve(await run(by, mode, values, upload, lease))
    const isOurs = await leases
      .hold(leaseName.import(by.tenantId), NEVER, work)
      .finally(onDocuments)
    if (!isOurs) throw importRunning()
    return promise
  }
}

const importRunning = () => appError('import_running', {}, { headers: { 'retry-after': '10' } })

/** An import ends with its request. */
const NEVER = new AbortController().signal

const BROKEN_OFF: readonly string[] = [
  'invalid_json',
  'client_closed',
  'memory_full',
  'import_running',
]

const isBrokenOff = (error: unknown) => error instanceof AppError && BROKEN_OFF.includes(error.code)

const sum = (a: Imported, b: Imported): Imported => ({
  personas: a.personas + b.personas,
  apps: a.apps + b.apps,
  settings: a.settings || b.settings,
  mcp_servers: a.mcp_servers + b.mcp_servers,
  prompts: a.prompts + b.prompts,
  collections: a.collections + b.collections,
  schedules: a.schedules + b.schedules,
  webhooks: a.webhooks + b.webhooks,
})
