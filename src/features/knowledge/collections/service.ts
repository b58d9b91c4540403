import type { Clock } from '../../../core/clock.ts'
import { newId } from '../../../core/crypto.ts'
import { appError } from '../../../core/errors.ts'
import { checked } from '../../../core/fields.ts'
import { COLLECTIONS_MAX } from '../../../core/limits/contract.ts'
import type { Principal } from '../../../core/principal.ts'
import { type Access, missingCollection } from './access.ts'
import { type Collection, CollectionRequest } from './model.ts'
import type { CollectionStore } from './store.ts'

export interface CollectionParts {
  readonly store: CollectionStore
  readonly access: Access
  readonly clock: Pick<Clock, 'iso'>
  /** Ends the work on a source that was deleted. */
  readonly endWork: (sourceId: string) => void
  /** Removes hidden documents. */
  readonly sweep: () => void
}

/** The tenant's collections. Every call answers 404 for one that is not the tenant's. */
export function createCollections({ store, access, clock, endWork, sweep }: CollectionParts) {
  async function find(tenantId: string, id: string): Promise<Collection> {
    const found = await store.find(tenantId, id)
    if (!found) throw missingCollection()
    return found
  }

  return {
    /** Those that the caller sees. */
    async list(principal: Principal, before: string | null, limit: number) {
      const { tenantId, collections: seen } = await access.viewOf(principal)
      const rows = await store.list(tenantId, seen, before, limit + 1)
      const collections = rows.slice(0, limit)
      const next_before = rows.length > limit ? (collections.at(-1)?.id ?? null) : null
      return { collections, next_before }
    },

    /** All of them, newest first. */
    all: (tenantId: string) => store.list(tenantId, null, null, COLLECTIONS_MAX),

    /** Names by id, also of deleted ones. */
    names: store.names,

    /** Throws `name_taken` and `quota_collections`. */
    async create(tenantId: string, request: CollectionRequest): Promise<Collection> {
      const made = { id: newId(), ...request, created_at: clock.iso() }
      if (await store.insert(tenantId, made, COLLECTIONS_MAX)) {
        return { ...made, doc_count: 0, source_count: 0 }
      }
      if ((await store.named(tenantId, request.name)) !== null) {
        throw appError('name_taken', { name: request.name })
      }
      throw appError('quota_collections', { max: COLLECTIONS_MAX })
    },

    /** Throws `name_taken`. */
    async replace(tenantId: string, id: string, request: CollectionRequest): Promise<Collection> {
      if (!(await store.replace(tenantId, id, request))) {
        await find(tenantId, id)
        throw appError('name_taken', { name: request.name })
      }
      return { ...(await find(tenantId, id)), ...request }
    },

    /** Deletes a collection, and with `withDocs` its documents and sources. */
    async remove(tenantId: string, id: string, withDocs: boolean) {
      const sources = withDocs ? await store.sources(tenantId, id) : []
      if (!(await store.remove(tenantId, id, withDocs))) throw missingCollection()
      for (const source of sources) endWork(source)
      if (withDocs) sweep()
      return { id, deleted: true as const }
    },

    /** Validates a collection of an imported configuration; throws `AppError` (400). */
    checkImported: (item: unknown): CollectionRequest => checked(CollectionRequest, item),
  }
}

export type CollectionService = ReturnType<typeof createCollections>
