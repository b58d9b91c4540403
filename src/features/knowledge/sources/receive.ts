import type { Clock } from '../../../core/clock.ts'
import { newId } from '../../../core/crypto.ts'
import { appError } from '../../../core/errors.ts'
import { SOURCES_REFRESHED_MAX, SOURCES_WAITING_MAX } from '../../../core/limits/contract.ts'
import { SOURCE_FILE_NAME_CHARS_MAX, SOURCE_UPLOADS } from '../../../core/limits/machine.ts'
import { SCAN_PICTURE_BYTES_MAX } from '../../../core/limits/scans.ts'
import { errorFields, type Logger } from '../../../core/log.ts'
import { createSemaphore } from '../../../core/semaphore.ts'
import { firstChars } from '../../../core/text.ts'
import type { Statement } from '../../../storage/db.ts'
import type { SharedFiles } from '../../../storage/shared-state.ts'
import { fileKind } from './file-kind.ts'
import { cutTitle } from './model.ts'
import type { Spool } from './reading.ts'
import type { Uploader } from './row.ts'
import type { NewSource, SourceStore } from './store.ts'

/** Receives files that become sources. */

/** A form with a file, which `save` has stored in the spool. */
export interface UploadForm {
  readonly title: string | undefined
  readonly fileName: string
  readonly contentType: string
  /** The field `collection_id`, unchecked. */
  readonly collection?: string | undefined
  /** The fields `origin` and `sha256`, unchecked. */
  readonly origin?: string | undefined
  readonly sha256?: string | undefined
}

type Save = (bytes: AsyncIterable<Uint8Array>) => Promise<void>

export interface ReceivingParts {
  readonly store: SourceStore
  readonly spool: Spool
  readonly files: SharedFiles
  readonly clock: Clock
  readonly log: Pick<Logger, 'warn'>
  /** Whether pictures are read as documents. */
  readonly takesPictures: (tenantId: string) => Promise<boolean>
}

async function checkRefreshed(store: Pick<SourceStore, 'counts'>, tenantId: string) {
  const { refreshed } = await store.counts(tenantId)
  if (refreshed >= SOURCES_REFRESHED_MAX) throw tooManyRefreshed()
}

export const tooManyWaiting = () =>
  appError('too_many_waiting', { max: SOURCES_WAITING_MAX }, { headers: { 'retry-after': '10' } })

export const tooManyRefreshed = () => appError('quota_refreshed', { max: SOURCES_REFRESHED_MAX })

export type Added = Omit<NewSource, 'created_at' | 'key_id' | 'app_id' | 'user_id'>
/** False when its collection went, or its origin came, since they were looked at. */
export type Add = (by: Uploader, source: Added, also?: readonly Statement[]) => Promise<boolean>
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
interface Destined extends Partial<Pick<NewSource, 'origin' | 'sha256' | 'replaces'>> {
  readonly kind: 'file' | 'chat' | 'version'
  readonly title: string
  /** The id of a collection, or `none`. */
  readonly collection_id: string
  /** Statements that are stored with the source. */
  readonly also: readonly Statement[]
}

/** Null for a file that is there already. */
export type Destine = (file: ArrivedFile) => Destined | null | Promise<Destined | null>

/** Receives a file; `read` gives the answer before the file is worked on. */
export type ReceiveFile = <Answer>(
  by: Uploader,
  receive: Receive,
  destine: Destine,
  read: (id: string) => Promise<Answer>,
) => Promise<Answer>

/** Stores sources that wait for the work on them. */
export const createAdd = ({ store, clock }: Pick<ReceivingParts, 'store' | 'clock'>): Add =>
  async function add({ tenantId, keyId, appId, userId }, source, also = []) {
    const isRefreshed = source.refresh !== null && source.refresh !== 'off'
    if (isRefreshed) await checkRefreshed(store, tenantId)
    const now = clock.now()
    const by = { key_id: keyId, app_id: appId, user_id: userId }
    const added = { ...source, ...by, created_at: clock.iso() }
    if (await store.insert(tenantId, added, now, also)) return true
    const { waiting } = await store.counts(tenantId)
    if (waiting >= SOURCES_WAITING_MAX) throw tooManyWaiting()
    if (isRefreshed) await checkRefreshed(store, tenantId)
    return false
  }

/** A look at what is there is repeated where another upload was faster to change it. */
const LOOKS_MAX = 5

/** Receives uploaded files into the spool. */
export function createUpload(parts: ReceivingParts, add: Add) {
  const { store, spool, files, log } = parts
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

  return async function upload(by: Uploader, receive: Receive, destine: Destine): Promise<string> {
    const { tenantId } = by
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
      const file_name = firstChars(fileName, SOURCE_FILE_NAME_CHARS_MAX)
      const file = { id, url: null, refresh: null, bytes, is_named: 1, file_name }
      for (let looks = 1; looks <= LOOKS_MAX; looks++) {
        const destined = await destine({ id, form, fileName, bytes: spool.map(id) })
        if (destined === null) {
          await discard(id)
          return id
        }
        const { also, ...rest } = destined
        const media_type = await mediaTypeOf(parts, tenantId, spool.map(id), form)
        if (!isAdded) await files.keep(id, spool.map(id))
        isAdded = true
        if (await add(by, { ...file, ...rest, media_type }, also)) return id
      }
      throw tooManyWaiting()
    } catch (error) {
      if (!(isAdded && (await mayBeStored(tenantId, id)))) await discard(id)
      throw error
    } finally {
      count(tenantId, -1)
    }
  }
}

/** Throws for a file of a kind that is not read. */
async function mediaTypeOf(
  { takesPictures }: ReceivingParts,
  tenantId: string,
  bytes: Uint8Array,
  { fileName, contentType }: UploadForm,
): Promise<string> {
  const kind = fileKind(bytes, fileName.toWellFormed(), contentType)
  if (kind === 'encrypted') return 'application/x-ole-storage'
  if (kind === null) throw appError('file_unsupported')
  if (kind.kind !== 'picture') return kind.mediaType
  if (!(await takesPictures(tenantId))) throw appError('file_unsupported')
  if (bytes.length > SCAN_PICTURE_BYTES_MAX) {
    throw appError('file_too_large', { max: SCAN_PICTURE_BYTES_MAX / 1024 / 1024 })
  }
  return kind.mediaType
}

const UNNAMED = '未命名文件'

/** The title of a file that nobody has named. */
export const titleOfFile = (name: string): string =>
  cutTitle(name.replace(/(?<=.)\.[^.]*$/s, '')) || UNNAMED
