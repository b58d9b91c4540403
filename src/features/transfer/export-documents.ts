import type { Archive } from '../kb/archive.ts'
import type { DocHead } from '../kb/archive-store.ts'
import type { SourceArchiveStore } from '../sources/archive-store.ts'
import type { CarriedDocument } from './document.ts'

export interface ExportDocumentsParts {
  readonly docs: Pick<Archive, 'heads' | 'partsOf' | 'chunks'>
  readonly sources: Pick<SourceArchiveStore, 'carried' | 'unreadPages'>
}

/**
 * The knowledge base of a tenant, a document at a time as the client takes it. The parts of a
 * source are looked up when their turn comes, so that a page that was read anew meanwhile is
 * carried as it is then, and not half of it. `confirm` throws once the credential is revoked.
 */
export async function* exportDocuments(
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
