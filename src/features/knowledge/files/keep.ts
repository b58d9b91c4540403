import type { Clock } from '../../../core/clock.ts'
import { checked } from '../../../core/fields.ts'
import { type Leases, leaseName } from '../../../storage/shared-state.ts'
import { everything, type KbView } from '../collections/access.ts'
import type { Archive } from '../index/archive.ts'
import type { SourceArchive } from '../sources/archive.ts'
import { type Source, SourceTitle } from '../sources/model.ts'
import { titleOfFile } from '../sources/receive.ts'
import type { FileTextStore } from './store.ts'

export interface KeepFileParts {
  readonly texts: Pick<FileTextStore, 'documents' | 'parts'>
  readonly archive: Pick<Archive, 'add'>
  readonly sources: Pick<SourceArchive, 'begin' | 'publish' | 'discard'>
  readonly get: (view: KbView, id: string) => Promise<Source>
  readonly leases: Pick<Leases, 'hold'>
  readonly clock: Pick<Clock, 'iso'>
  /** Called when documents may wait to be embedded or to be removed. */
  readonly onDocuments: () => void
}

/** A file that has been read. */
export interface ReadFile {
  readonly id: string
  readonly name: string
  readonly media_type: string
  readonly bytes: number
  readonly pages: number | null
  readonly ocr_pages: number
  readonly pages_unread: number
}

/**
 * Puts the text of a file into the knowledge base, as an upload of the same name would. It is found
 * by its words at once and embedded afterwards. Throws `quota_docs`.
 */
export function createKeepFile(parts: KeepFileParts) {
  const { texts, archive, sources, get, leases, clock, onDocuments } = parts

  async function copyParts(tenantId: string, file: ReadFile, title: string, sourceId: string) {
    const count = await texts.parts(tenantId, file.id)
    const createdAt = clock.iso()
    let part = 0
    for await (const chunks of texts.documents(tenantId, file.id)) {
      part += 1
      const name = count === 1 ? title : `${title} (${part}/${count})`
      const doc = { title: name, text: null, chunks, createdAt, part, parts: count }
      await archive.add(tenantId, doc, { sourceId })
    }
    return part
  }

  return async function keepFile(
    tenantId: string,
    file: ReadFile,
    givenTitle: string | undefined,
    collection: string,
  ): Promise<Source> {
    const title = checked(SourceTitle, givenTitle) || titleOfFile(file.name)
    const { media_type, bytes, pages, ocr_pages, pages_unread } = file
    const created_at = clock.iso()
    const arriving = await sources.begin(tenantId, {
      kind: 'file',
      title,
      is_named: 1,
      file_name: file.name,
      media_type,
      bytes,
      pages,
      ocr_pages,
      pages_unread,
      url: null,
      refresh: null,
      state: 'ready',
      text_hash: null,
      created_at,
      checked_at: null,
      changed_at: null,
      collection_id: collection,
    })
    const work = new AbortController()
    // Another server removes documents that nobody works on.
    await leases.hold(leaseName.source(arriving.id), work.signal, async () => {
      try {
        const count = await copyParts(tenantId, file, title, arriving.id)
        await sources.publish(tenantId, arriving, count, null)
      } finally {
        await sources.discard(arriving.id)
        onDocuments()
      }
    })
    return get(everything(tenantId), arriving.id)
  }
}

export type KeepFile = ReturnType<typeof createKeepFile>
