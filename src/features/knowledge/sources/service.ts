import type { Clock } from '../../../core/clock.ts'
import { newId } from '../../../core/crypto.ts'
import { appError } from '../../../core/errors.ts'
import { checked } from '../../../core/fields.ts'
import { SOURCES_REFRESHED_MAX, SOURCES_WAITING_MAX } from '../../../core/limits/contract.ts'
import { SOURCE_FILE_NAME_CHARS_MAX, SOURCE_UPLOADS } from '../../../core/limits/machine.ts'
import { errorFields, type Logger } from '../../../core/log.ts'
import { createSemaphore } from '../../../core/semaphore.ts'
import { firstChars } from '../../../core/text.ts'
import type { SharedFiles } from '../../../storage/shared-state.ts'
import { type AllowList, checkedUrl } from '../../../upstream/egress/url-guard.ts'
import type { PartStore } from '../index/part-store.ts'
import { fileKind } from './file-kind.ts'
import {
  cutTitle,
  type KbLimitsResponse,
  REFRESH_MS,
  type Refresh,
  type Source,
  SourceTitle,
  type UrlRequest,
} from './model.ts'
import type { Spool } from './reading.ts'
import type { NewSource, SourceRow, SourceStore } from './store.ts'
import type { SourceWork } from './work.ts'

/** A form with a file, which `save` has stored in the spool. */
export interface UploadForm {
  readonly title: string | undefined
  readonly fileName: string
  readonly contentType: string
}

type Save = (bytes: AsyncIterable<Uint8Array>) => Promise<void>

export interface SourcesParts {
  readonly store: SourceStore
  readonly work: SourceWork
  readonly documents: Pick<PartStore, 'retire'>
  readonly spool: Spool
  readonly files: SharedFiles
  readonly clock: Clock
  readonly log: Pick<Logger, 'warn'>
  /** Private hosts that tenants may name. */
  readonly allow: () => AllowList
  readonly limits: KbLimitsResponse
}

/** Files and web pages that become documents. */
export function createSources(parts: SourcesParts) {
  const { store, work, documents, clock, allow, limits } = parts
  const missing = () => appError('not_found', { what: 'source' })

  async function rowOf(tenantId: string, id: string): Promise<SourceRow> {
    const row = await store.row(tenantId, id)
    if (!row) throw missing()
    return row
  }

  async function get(tenantId: string, id: string): Promise<Source> {
    const source = await store.get(tenantId, id, clock.now())
    if (!source) throw missing()
    return source
  }

  async function add(tenantId: string, source: Added): Promise<void> {
    if (source.refresh !== null && source.refresh !== 'off') await checkRefreshed(tenantId)
    const now = clock.now()
    if (!(await store.insert(tenantId, { ...source, created_at: clock.iso() }, now))) {
      throw tooManyWaiting()
    }
  }

  /** An added source as it waits: the work on it begins when its answer has been read. */
  async function begin(tenantId: string, id: string): Promise<Source> {
    try {
      return await get(tenantId, id)
    } finally {
      work.wake()
    }
  }

  async function checkRefreshed(tenantId: string): Promise<void> {
    const { refreshed } = await store.counts(tenantId)
    if (refreshed >= SOURCES_REFRESHED_MAX) throw tooManyRefreshed()
  }

  return {
    limits,
    fileBytesMax: limits.file_mb_max * 1024 * 1024,
    get,
    upload: createUpload(parts, add, begin),

    async addUrl(tenantId: string, { url: given, title, refresh }: UrlRequest): Promise<Source> {
      const url = checkedUrl(given, allow())
      const id = newId()
      await add(tenantId, {
        id,
        kind: 'url',
        url: url.href,
        refresh,
        title: title || cutTitle(url.host),
        is_named: title ? 1 : 0,
        file_name: '',
        media_type: 'application/octet-stream',
        bytes: 0,
      })
      return begin(tenantId, id)
    },

    async list(tenantId: string): Promise<{ sources: Source[] }> {
      return { sources: await store.list(tenantId, clock.now()) }
    },

    /** Schedules a check of the source as soon as possible. */
    async refresh(tenantId: string, id: string): Promise<Source> {
      const row = await rowOf(tenantId, id)
      if (row.kind === 'file') throw appError('not_refreshable')
      if (!(await store.askForCheck(row, clock.now()))) throw tooManyWaiting()
      work.wake()
      return get(tenantId, id)
    },

    async setRefresh(tenantId: string, id: string, refresh: Refresh): Promise<Source> {
      const row = await rowOf(tenantId, id)
      if (row.kind === 'file') throw appError('not_refreshable')
      const now = clock.now()
      const every = REFRESH_MS[refresh]
      const { checked_at } = await get(tenantId, id)
      const last = checked_at === null ? now : Date.parse(checked_at)
      const next = every === null ? null : Math.max(now, last + every)
      if (!(await store.setRefresh(row, refresh, next, now))) throw tooManyRefreshed()
      return get(tenantId, id)
    },

    /** Deletes a source with its documents; once this resolves, no search finds them. */
    async remove(tenantId: string, id: string): Promise<{ id: string; deleted: boolean }> {
      const row = await rowOf(tenantId, id)
      if (!(await store.remove(row, documents.retire(tenantId, id)))) throw missing()
      work.end(id)
      return { id, deleted: true }
    },
  }
}

export type Sources = ReturnType<typeof createSources>

const tooManyWaiting = () =>
  appError('too_many_waiting', { max: SOURCES_WAITING_MAX }, { headers: { 'retry-after': '10' } })

const tooManyRefreshed = () => appError('quota_refreshed', { max: SOURCES_REFRESHED_MAX })

type Added = Omit<NewSource, 'created_at'>
type Add = (tenantId: string, source: Added) => Promise<void>
type Begin = (tenantId: string, id: string) => Promise<Source>

/** Receives uploaded files into the spool. */
function createUpload({ store, spool, files, log }: SourcesParts, add: Add, begin: Begin) {
  /** Uploads under way by tenant: they count as waiting sources, because they take disk space. */
  const arriving = new Map<string, number>()
  const slots = createSemaphore(SOURCE_UPLOADS)

  function count(tenantId: string, by: 1 | -1): number {
    const now = (arriving.get(tenantId) ?? 0) + by
    if (now > 0) arriving.set(tenantId, now)
    else arriving.delete(tenantId)
    return now
  }

  /** Whether the source is stored, or nobody can tell. */
  const mayBeStored = (tenantId: string, id: string): Promise<boolean> =>
    store.row(tenantId, id).then(
      (row) => row !== null,
      () => true,
    )

  async function discard(id: string): Promise<void> {
    spool.remove(id)
    await files
      .remove(id)
      .catch((error: unknown) => log.warn('file not removed', errorFields(error)))
  }

  return async function upload(
    tenantId: string,
    receive: (save: Save) => Promise<UploadForm>,
  ): Promise<Source> {
    const underWay = count(tenantId, 1)
    const id = newId()
    let bytes = 0
    let isAdded = false
    try {
      const { waiting } = await store.counts(tenantId)
      if (waiting + underWay > SOURCES_WAITING_MAX) throw tooManyWaiting()
      const save: Save = async (file) => {
        bytes = await spool.write(id, file)
      }
      const form = await slots.run(tenantId, () => receive(save))
      if (bytes === 0) throw appError('file_empty')
      const title = checked(SourceTitle, form.title)
      const fileName = form.fileName.toWellFormed()
      const kind = fileKind(spool.map(id), fileName, form.contentType)
      if (kind === null) throw appError('file_unsupported')
      await files.keep(id, spool.map(id))
      isAdded = true
      await add(tenantId, {
        id,
        kind: 'file',
        url: null,
        refresh: null,
        bytes,
        title: title || titleOfFile(fileName),
        is_named: 1,
        file_name: firstChars(fileName, SOURCE_FILE_NAME_CHARS_MAX),
        media_type: kind === 'encrypted' ? 'application/x-ole-storage' : kind.mediaType,
      })
    } catch (error) {
      if (!(isAdded && (await mayBeStored(tenantId, id)))) await discard(id)
      throw error
    } finally {
      count(tenantId, -1)
    }
    return begin(tenantId, id)
  }
}

const UNNAMED = '未命名文件'

const titleOfFile = (name: string): string =>
  cutTitle(name.replace(/(?<=.)\.[^.]*$/s, '')) || UNNAMED
