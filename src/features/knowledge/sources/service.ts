import type { Clock } from '../../../core/clock.ts'
import { newId } from '../../../core/crypto.ts'
import { appError } from '../../../core/errors.ts'
import { checked } from '../../../core/fields.ts'
import { SOURCES_REFRESHED_MAX, SOURCES_WAITING_MAX } from '../../../core/limits/contract.ts'
import { SOURCE_FILE_NAME_CHARS_MAX, SOURCE_UPLOADS } from '../../../core/limits/machine.ts'
import { errorFields, type Logger } from '../../../core/log.ts'
import { createSemaphore } from '../../../core/semaphore.ts'
import { firstChars } from '../../../core/text.ts'
import type { Statement } from '../../../storage/db.ts'
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
  async function rowOf(tenantId: string, id: string): Promise<SourceRow> {
    const row = await store.row(tenantId, id)
    if (!row || row.kind === 'chat') throw missing()
    return row
  }

  async function removeRow(row: SourceRow): Promise<boolean> {
    const isRemoved = await store.remove(row, documents.retire(row.tenant_id, row.id))
    if (isRemoved) work.end(row.id)
    return isRemoved
  }

  async function get(tenantId: string, id: string): Promise<Source> {
    const source = await store.get(tenantId, id, clock.now())
    if (!source) throw missing()
    return source
  }

  const add = createAdd(parts)

  /** An added source as it waits: the work on it begins when its answer has been read. */
  async function begin<Answer>(read: Promise<Answer>): Promise<Answer> {
    try {
      return await read
    } finally {
      work.wake()
    }
  }

  const upload = createUpload(parts, add)
  const receiveFile: ReceiveFile = async (tenantId, receive, destine, read) =>
    begin(read(await upload(tenantId, receive, destine)))

  return {
    limits,
    fileBytesMax: limits.file_mb_max * 1024 * 1024,
    get,

    async upload(tenantId: string, receive: Receive): Promise<Source> {
      const destine: Destine = ({ form, fileName }) => ({
        kind: 'file',
        title: checked(SourceTitle, form.title) || titleOfFile(fileName),
        also: [],
      })
      return receiveFile(tenantId, receive, destine, (id) => get(tenantId, id))
    },

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
      return begin(get(tenantId, id))
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
      if (!(await removeRow(await rowOf(tenantId, id)))) throw missing()
      return { id, deleted: true }
    },

    /** Receives a file of a conversation; `read` gives the answer before it is worked on. */
    receiveFile,

    /** Deletes any source, also a file of a conversation. False when there is none. */
    async discard(tenantId: string, id: string): Promise<boolean> {
      const row = await store.row(tenantId, id)
      return row !== null && removeRow(row)
    },
  }
}

const missing = () => appError('not_found', { what: 'source' })

export type Sources = ReturnType<typeof createSources>

async function checkRefreshed(store: Pick<SourceStore, 'counts'>, tenantId: string) {
  const { refreshed } = await store.counts(tenantId)
  if (refreshed >= SOURCES_REFRESHED_MAX) throw tooManyRefreshed()
}

const tooManyWaiting = () =>
  appError('too_many_waiting', { max: SOURCES_WAITING_MAX }, { headers: { 'retry-after': '10' } })

const tooManyRefreshed = () => appError('quota_refreshed', { max: SOURCES_REFRESHED_MAX })

type Added = Omit<NewSource, 'created_at'>
type Add = (tenantId: string, source: Added, also?: readonly Statement[]) => Promise<void>
/** Reads the form, and gives its file to `save`. */
export type Receive = (save: Save) => Promise<UploadForm>

/** A file that has arrived in the spool. */
export interface ArrivedFile {
  readonly id: string
  readonly form: UploadForm
  readonly fileName: string
  readonly bytes: Uint8Array
}

/** What a file that has arrived becomes. */
interface Destined {
  readonly kind: 'file' | 'chat'
  readonly title: string
  /** Statements that are stored with the source. */
  readonly also: readonly Statement[]
}

type Destine = (file: ArrivedFile) => Destined

/** Receives a file; `read` gives the answer before the file is worked on. */
type ReceiveFile = <Answer>(
  tenantId: string,
  receive: Receive,
  destine: Destine,
  read: (id: string) => Promise<Answer>,
) => Promise<Answer>

/** Stores sources that wait for the work on them. */
const createAdd = ({ store, clock }: Pick<SourcesParts, 'store' | 'clock'>): Add =>
  async function add(tenantId, source, also = []) {
    if (source.refresh !== null && source.refresh !== 'off') await checkRefreshed(store, tenantId)
    const now = clock.now()
    if (!(await store.insert(tenantId, { ...source, created_at: clock.iso() }, now, also))) {
      throw tooManyWaiting()
    }
  }

/** Receives uploaded files into the spool. */
function createUpload({ store, spool, files, log }: SourcesParts, add: Add) {
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
    receive: Receive,
    destine: Destine,
  ): Promise<string> {
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
      const fileName = form.fileName.toWellFormed()
      const { title, also, ...rest } = destine({ id, form, fileName, bytes: spool.map(id) })
      const kind = fileKind(spool.map(id), fileName, form.contentType)
      if (kind === null) throw appError('file_unsupported')
      await files.keep(id, spool.map(id))
      isAdded = true
      const source = {
        id,
        ...rest,
        url: null,
        refresh: null,
        bytes,
        title,
        is_named: 1,
        file_name: firstChars(fileName, SOURCE_FILE_NAME_CHARS_MAX),
        media_type: kind === 'encrypted' ? 'application/x-ole-storage' : kind.mediaType,
      }
      await add(tenantId, source, also)
    } catch (error) {
      if (!(isAdded && (await mayBeStored(tenantId, id)))) await discard(id)
      throw error
    } finally {
      count(tenantId, -1)
    }
    return id
  }
}

const UNNAMED = '未命名文件'

/** The title of a file that nobody has named. */
export const titleOfFile = (name: string): string =>
  cutTitle(name.replace(/(?<=.)\.[^.]*$/s, '')) || UNNAMED
