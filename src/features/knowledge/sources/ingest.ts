import type { Clock } from '../../../core/clock.ts'
import {
  SOURCE_FETCHES,
  SOURCE_LONG_READINGS,
  SOURCE_READINGS,
} from '../../../core/limits/machine.ts'
import { createSemaphore, type Semaphore } from '../../../core/semaphore.ts'
import type { PartStore } from '../index/part-store.ts'
import { followTitle } from '../index/title-store.ts'
import type { FileScans, Scans } from '../scans/service.ts'
import { failure, quotaFailure } from './failure.ts'
import { fileKind } from './file-kind.ts'
import { cutTitle } from './model.ts'
import type { FetchedPage, Pages } from './pages.ts'
import type { Read, ReadText, Spool, UnreadText } from './reading.ts'
import type { SourceRow } from './row.ts'
import type { SourceStore } from './store.ts'
import type { SourceTelling } from './telling.ts'
import { endVersion, handOver, type VersionStore } from './version-store.ts'
import type { Version } from './work-store.ts'

export interface IngestOptions {
  readonly store: SourceStore
  readonly versions: Pick<VersionStore, 'drop'>
  readonly documents: PartStore
  readonly spool: Spool
  readonly pages: Pages
  readonly read: Read
  readonly scans: Pick<Scans, 'read'>
  readonly telling: Pick<SourceTelling, 'ready'>
  readonly clock: Clock
}

/** A file in the spool, and its version as the page reported it. */
interface Spooled extends Version {
  readonly bytes: number
  readonly contentType: string
}

/**
 * Turns one source into documents: fetches the page, reads the file, embeds and stores its parts,
 * and shows all of them at once. Tenants take turns at fetching and at reading. Throws
 * `SourceFailure`, or what the embedder and the database throw; no new document is shown then.
 */
export function createIngest(options: IngestOptions) {
  const { store, versions, documents, spool, read, scans, telling, clock } = options
  const fetches = createSemaphore(SOURCE_FETCHES)
  const fetchPage = createFetch(fetches, options)
  const readings = createReadings()
  const at = () => ({ now: clock.now(), iso: clock.iso() })

  async function checkPage(source: SourceRow, signal: AbortSignal): Promise<void> {
    const page = await fetchPage(source, signal, () => enter(store, source, 'reading'))
    if (!page) {
      const { etag, last_modified: lastModified } = source
      await unchanged(options, source, { etag, lastModified })
      return
    }
    const kind = page.bytes > 0 && fileKind(spool.map(source.id), '', page.contentType)
    const isPage = kind && (kind === 'encrypted' || PAGE_KINDS.has(kind.kind))
    if (page.bytes > 0 && !isPage) throw failure('unsupported')
    await makeDocuments(source, page, signal)
  }

  const makeDocuments = (source: SourceRow, file: Spooled, signal: AbortSignal) =>
    pageByPage(scans, source, signal, (unread) => {
      const work = async (isBrief: boolean) => {
        const done = await readDocuments(source, file, isBrief, signal)
        if (typeof done === 'object') unread(done.scans)
        return done !== false
      }
      return readings.run(source.tenant_id, work, signal)
    })

  /** False when the reading is to be brief and takes longer. */
  async function readDocuments(
    source: SourceRow,
    file: Spooled,
    isBrief: boolean,
    signal: AbortSignal,
  ): Promise<boolean | UnreadText> {
    await enter(store, source, 'reading')
    const { id, tenant_id: tenantId, file_name: fileName } = source
    const text = await read({ id, tenantId, fileName, ...file }, isBrief, signal)
    if (text === null) return false
    if ('scans' in text) return text
    if (text.hash === source.text_hash) await unchanged(options, source, file)
    else await embed(source, file, text, signal)
    return true
  }

  /** Embeds and stores the parts; the documents that they replace stay searchable until then. */
  async function embed(source: SourceRow, file: Spooled, text: ReadText, signal: AbortSignal) {
    const { tenant_id: tenantId, id } = source
    const count = text.parts.length
    const isChat = source.kind === 'chat'
    const owner = source.replaces ?? id
    const checkRoom = async () => {
      if (isChat) return
      const room = await documents.room(tenantId, owner)
      if (count > room) throw quotaFailure(count, room)
    }
    await checkRoom()
    await enter(store, source, 'embedding')
    const title = titleOf(source, text)
    const createdAt = clock.iso()
    try {
      for (const [i, part] of text.parts.entries()) {
        const name = count === 1 ? title : `${title} (${i + 1}/${count})`
        const place = { title: name, part: i + 1, parts: count, createdAt }
        await documents.add(source, { ...part, ...place }, signal)
        signal.throwIfAborted()
      }
      const { etag, lastModified, bytes } = file
      const content = { ...text, title, from: id, bytes, etag, lastModified }
      const publish = isChat ? documents.publishFile : documents.publish
      const shown = publish(tenantId, owner, count)
      const key = { tenant_id: tenantId, id: owner }
      // Renamed meanwhile: the parts have the title that it had when it was read.
      const follow = followTitle(tenantId, owner, clock.now())
      const isVersion = owner !== id
      const named = await store.row(tenantId, id)
      const told = { key, title: named?.is_named === 1 ? named.title : title }
      const begin = isVersion ? [handOver(source, owner)] : []
      const end = isVersion ? endVersion(source, owner) : []
      const isShown = telling.ready(told, (first) =>
        store.show(key, [...first, ...begin, ...shown], content, at(), [follow, ...end]),
      )
      // The tenant may have added other documents meanwhile, or deleted the source.
      if (!(await isShown)) {
        await checkRoom()
        await versions.drop(source)
      }
    } finally {
      await documents.discard(id)
    }
  }

  return {
    run: (source: SourceRow, signal: AbortSignal): Promise<void> =>
      source.kind === 'url'
        ? checkPage(source, signal)
        : makeDocuments(source, uploaded(source), signal),
    /** How many sources are being fetched or read. */
    running: () => fetches.held() + readings.held(),
  }
}

/**
 * Reads a file, then the scanned pages that it has told by `unread`, and then the file anew with
 * what the model has read. It waits for the model without the place of a reading.
 */
async function pageByPage(
  scans: Pick<Scans, 'read'>,
  source: SourceRow,
  signal: AbortSignal,
  read: (unread: (pages: FileScans) => void) => Promise<void>,
): Promise<void> {
  for (;;) {
    const found: FileScans[] = []
    await read((pages) => found.push(pages))
    const [unread] = found
    if (!unread) return
    await scans.read(source, unread, signal)
  }
}

/** Stores that a source still has the same text. */
const unchanged = (
  { store, telling, clock }: Pick<IngestOptions, 'store' | 'telling' | 'clock'>,
  key: SourceRow,
  version: Version,
) =>
  telling.ready({ key, title: key.title }, (told) =>
    store.unchanged(key, version, { now: clock.now(), iso: clock.iso() }, told),
  )

/** Stores the progress of a source that has no documents yet; others stay `ready`. */
async function enter(
  store: SourceStore,
  source: SourceRow,
  state: 'reading' | 'embedding',
): Promise<void> {
  if (isWaiting(source)) await store.setState(source, state)
}

const uploaded = ({ media_type: contentType, bytes }: SourceRow): Spooled => ({
  contentType,
  bytes,
  etag: null,
  lastModified: null,
})

/** A file that takes long gives its place to the others and is read anew beside them. */
function createReadings() {
  const brief = createSemaphore(SOURCE_READINGS)
  const long = createSemaphore(SOURCE_LONG_READINGS)
  return {
    /** `work` resolves with false when it is to be brief and takes longer. */
    async run(tenantId: string, work: (isBrief: boolean) => Promise<boolean>, signal: AbortSignal) {
      const isDone = await brief.run(tenantId, () => work(true), signal)
      if (!isDone) await long.run(tenantId, () => work(false), signal)
    },
    held: () => brief.held() + long.held(),
  }
}

/** After this many waits a page keeps its slot, so that others do not overtake it for ever. */
const WAITS_MAX = 60

/**
 * Fetches a page in its tenant's turn. A page waits without a slot when its host was just asked.
 */
function createFetch(slots: Semaphore, { pages, clock }: IngestOptions) {
  return async function fetchPage(
    source: SourceRow,
    signal: AbortSignal,
    begin: () => Promise<void>,
  ): Promise<FetchedPage | null> {
    for (let waits = 0; ; waits++) {
      const page = await slots.run(
        source.tenant_id,
        async () => {
          if (waits < WAITS_MAX && pages.waitMs(source) > 0) return 'early'
          await begin()
          return pages.fetch(source, signal)
        },
        signal,
      )
      if (page !== 'early') return page
      await clock.sleep(pages.waitMs(source), signal)
    }
  }
}

export type Ingest = ReturnType<typeof createIngest>

/** Kinds of pages that are read. */
const PAGE_KINDS: ReadonlySet<string> = new Set(['html', 'text', 'markdown', 'pdf'])

/** Whether the source has no documents yet and has not failed. */
export const isWaiting = ({ state }: SourceRow): boolean =>
  state === 'queued' || state === 'reading' || state === 'embedding'

function titleOf(source: SourceRow, { title, mediaType }: ReadText): string {
  const isPage = source.kind === 'url' && mediaType === 'text/html'
  const own = isPage && source.is_named === 0 ? cutTitle(title ?? '') : ''
  return own || source.title
}
