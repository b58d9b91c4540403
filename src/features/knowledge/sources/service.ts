import type { Clock } from '../../../core/clock.ts'
import { newId } from '../../../core/crypto.ts'
import { appError } from '../../../core/errors.ts'
import { checked } from '../../../core/fields.ts'
import type { Logger } from '../../../core/log.ts'
import { timeSlice } from '../../../core/time-slice.ts'
import { NO_COLLECTION } from '../../../storage/collections.ts'
import type { SharedFiles } from '../../../storage/shared-state.ts'
import { type AllowList, checkedUrl } from '../../../upstream/egress/url-guard.ts'
import { everything, type KbView, missingCollection } from '../collections/access.ts'
import type { PartStore } from '../index/part-store.ts'
import { followTitle } from '../index/title-store.ts'
import { isWaiting } from './ingest.ts'
import {
  cutTitle,
  type KbLimitsResponse,
  REFRESH_MS,
  type Refresh,
  type Source,
  SourceHash,
  SourceOrigin,
  SourceTitle,
  type UrlRequest,
} from './model.ts'
import type { Spool } from './reading.ts'
import {
  createAdd,
  createUpload,
  type Destine,
  type Receive,
  type ReceiveFile,
  titleOfFile,
  tooManyRefreshed,
  tooManyWaiting,
} from './receive.ts'
import type { SourceRow, Uploader } from './row.ts'
import type { SourceStore } from './store.ts'
import { dropOlder, isSame, type Present, type VersionStore } from './version-store.ts'
import type { SourceWork } from './work.ts'

/** A page to add to a collection, by its id or `none`. */
export interface NewPage extends Omit<UrlRequest, 'collection_id'> {
  readonly collection: string
}

type TargetOf = (given: string | undefined) => Promise<string>

export interface SourcesParts {
  readonly store: SourceStore
  readonly versions: VersionStore
  readonly work: SourceWork
  readonly documents: Pick<PartStore, 'retire' | 'docsMaxOf'>
  readonly spool: Spool
  readonly files: SharedFiles
  readonly clock: Clock
  readonly log: Pick<Logger, 'warn'>
  /** Whether pictures are read as documents. */
  readonly takesPictures: (tenantId: string) => Promise<boolean>
  /** Private hosts that tenants may name. */
  readonly allow: () => AllowList
  readonly limits: () => KbLimitsResponse
  /** Indexes renamed documents anew, in the background. */
  readonly reindex: () => void
}

/** Files and web pages that become documents. */
export function createSources(parts: SourcesParts) {
  const { store, versions, work, documents, clock, allow, limits, reindex } = parts
  async function rowOf({ tenantId, collections }: KbView, id: string): Promise<SourceRow> {
    const row = await store.row(tenantId, id)
    const isSeen = collections === null || (row && collections.includes(row.collection_id))
    if (!row || row.kind === 'chat' || !isSeen) throw missing()
    return row
  }

  async function removeRow(view: KbView, row: SourceRow): Promise<boolean> {
    const coming = await versions.of(row)
    const isRemoved = await store.remove(view, row.id, documents.retire(row.tenant_id, row.id))
    if (isRemoved) for (const { id } of [row, ...coming]) work.end(id)
    return isRemoved
  }

  async function get(view: KbView, id: string): Promise<Source> {
    const source = await store.get(view, id, clock.now())
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
  const receiveFile: ReceiveFile = async (by, receive, destine, read) =>
    begin(read(await upload(by, receive, destine)))

  return {
    limitsOf: limitsOf(parts),
    fileBytesMax: () => limits().file_mb_max * 1024 * 1024,
    get,

    upload: uploads(parts, receiveFile, get),

    async addUrl(by: Uploader, page: NewPage): Promise<Source> {
      const { url: given, title, refresh, collection } = page
      const url = checkedUrl(given, allow())
      const id = newId()
      const isAdded = await add(by, {
        id,
        kind: 'url',
        url: url.href,
        refresh,
        title: title || cutTitle(url.host),
        is_named: title ? 1 : 0,
        file_name: '',
        media_type: 'application/octet-stream',
        bytes: 0,
        collection_id: collection,
      })
      if (!isAdded) throw missingCollection()
      return begin(get(everything(by.tenantId), id))
    },

    /** `prefix`: those whose origin begins with it. */
    async list(view: KbView, prefix: string | null = null): Promise<{ sources: Source[] }> {
      return { sources: await store.list(view, clock.now(), prefix) }
    },

    ...refreshes(parts, rowOf, get),

    /**
     * Moves a source with its documents; null: it stays. Throws 404, and `origin_taken` where the
     * collection has a file of its origin: an upload of that origin could mean either.
     */
    async move(view: KbView, id: string, collection: string | null): Promise<Source> {
      await rowOf(view, id)
      if (collection === null) return get(view, id)
      if (!(await store.move(view, id, collection))) {
        const { origin } = await rowOf(view, id)
        const present = origin && (await versions.byOrigin(view.tenantId, collection, origin))
        throw present ? appError('origin_taken') : missingCollection()
      }
      return get({ ...view, collections: null }, id)
    },

    /** Renames a source with its documents, which wait to be indexed anew. Throws 404. */
    async rename(view: KbView, id: string, title: string): Promise<void> {
      await rowOf(view, id)
      const follows = followTitle(view.tenantId, id, clock.now())
      if (!(await store.rename(view, id, cutTitle(title), follows))) throw missing()
      reindex()
    },

    /** Deletes a source with its documents; once this resolves, no search finds them. */
    async remove(view: KbView, id: string): Promise<{ id: string; deleted: boolean }> {
      if (!(await removeRow(view, await rowOf(view, id)))) throw missing()
      return { id, deleted: true }
    },

    /** Receives a file of a conversation; `read` gives the answer before it is worked on. */
    receiveFile,

    /** Deletes any source, also a file of a conversation. False when there is none. */
    async discard(tenantId: string, id: string): Promise<boolean> {
      const row = await store.row(tenantId, id)
      return row !== null && removeRow(everything(tenantId), row)
    },
  }
}

/** How much this tenant may store. */
const limitsOf =
  ({ limits, documents }: SourcesParts) =>
  async (tenantId: string): Promise<KbLimitsResponse> => ({
    ...limits(),
    docs_max: await documents.docsMaxOf(tenantId),
  })

const missing = () => appError('not_found', { what: 'source' })

export type Sources = ReturnType<typeof createSources>

type RowOf = (view: KbView, id: string) => Promise<SourceRow>
type Get = (view: KbView, id: string) => Promise<Source>

/** A file as it waits to be read; not `isNew` when its origin has the same bytes already. */
interface Uploaded {
  readonly source: Source
  readonly isNew: boolean
}

const uploads =
  ({ versions, work, clock }: SourcesParts, receiveFile: ReceiveFile, get: Get) =>
  /**
   * Receives a file. Of an origin that is known in the collection it is a new version, whose text
   * replaces the old one once it has been read. `targetOf` says which collection the field of the
   * form means.
   */
  async (
    by: Uploader,
    receive: Receive,
    targetOf: TargetOf = async () => NO_COLLECTION,
  ): Promise<Uploaded> => {
    const { tenantId } = by
    let known: string | null = null
    let isNew = true
    let outdated: readonly { id: string }[] = []
    const destine: Destine = async ({ id, form, fileName, bytes }) => {
      // It may have been moved or deleted since an earlier look.
      known = null
      const collection_id = await targetOf(form.collection)
      const named = checked(SourceTitle, form.title)
      const origin = checked(SourceOrigin, form.origin) || null
      const said = checked(SourceHash, form.sha256) || null
      const sha256 = said || origin ? await hashOf(bytes, clock) : null
      if (said && said !== sha256) throw appError('field_invalid', { field: 'sha256' })
      const present = origin && (await versions.byOrigin(tenantId, collection_id, origin))
      const title = named || (present && givenTitleOf(present)) || titleOfFile(fileName)
      const file = { collection_id, title, sha256 }
      if (!present || sha256 === null) return { ...file, kind: 'file', origin, also: [] }
      known = present.id
      isNew = !isSame(present, sha256)
      if (!isNew) return null
      outdated = present.coming.filter((one) => one.id < id)
      const also = [dropOlder({ tenant_id: tenantId, id }, present.id)]
      return { ...file, kind: 'version', replaces: present.id, also }
    }
    const read = (id: string) => get(everything(tenantId), known ?? id)
    const source = await receiveFile(by, receive, destine, read)
    if (known !== null) for (const { id } of outdated) work.end(id)
    return { source, isNew }
  }

/** The title that somebody gave a source, which its new version keeps; null: that of its file. */
const givenTitleOf = ({ title, fileName }: Present): string | null =>
  title === titleOfFile(fileName) ? null : title

/** Bytes that are hashed in half a millisecond. */
const HASHED_BYTES = 512 * 1024

/** The SHA-256 of a file; one of 20 MB would hold the event loop for 12 ms. */
async function hashOf(bytes: Uint8Array, { steady }: Pick<Clock, 'steady'>): Promise<string> {
  const hash = new Bun.CryptoHasher('sha256')
  const slice = timeSlice(steady)
  for (let at = 0; at < bytes.length; at += HASHED_BYTES) {
    hash.update(bytes.subarray(at, at + HASHED_BYTES))
    if (slice.isOver()) await slice.next()
  }
  return hash.digest('hex')
}

const refreshes = ({ store, work, clock }: SourcesParts, rowOf: RowOf, get: Get) => ({
  /** Reads a failed file again, as soon as possible; false when it is not kept. */
  async readAgain(tenant_id: string, id: string): Promise<boolean> {
    const isAsked = await store.readAgain({ tenant_id, id }, clock.now())
    if (isAsked) work.wake()
    return isAsked
  },

  /** Checks a page, or reads a file again that has failed and is kept, as soon as possible. */
  async refresh(view: KbView, id: string): Promise<Source> {
    const row = await rowOf(view, id)
    const now = clock.now()
    if (row.kind === 'file') {
      const isAsked = await store.readAgain(row, now)
      // Somebody may have asked, or deleted it, since it was looked at.
      if (!(isAsked || isWaiting(await rowOf(view, id)))) throw appError('not_refreshable')
    } else if (!(await store.askForCheck(row, now))) {
      await rowOf(view, id)
      throw tooManyWaiting()
    }
    work.wake()
    return get(view, id)
  },

  async setRefresh(view: KbView, id: string, refresh: Refresh): Promise<Source> {
    const row = await rowOf(view, id)
    if (row.kind === 'file') throw appError('not_refreshable')
    const now = clock.now()
    const every = REFRESH_MS[refresh]
    const { checked_at } = await get(view, id)
    const last = checked_at === null ? now : Date.parse(checked_at)
    const next = every === null ? null : Math.max(now, last + every)
    if (!(await store.setRefresh(row, refresh, next, now))) {
      await rowOf(view, id)
      throw tooManyRefreshed()
    }
    return get(view, id)
  },
})
