import type { Clock } from '../../../core/clock.ts'
import { newId } from '../../../core/crypto.ts'
import { appError } from '../../../core/errors.ts'
import { SOURCES_REFRESHED_MAX } from '../../../core/limits/contract.ts'
import { type AllowList, checkedUrl } from '../../../upstream/egress/url-guard.ts'
import type { PartStore } from '../index/part-store.ts'
import type { CarriedSource, KnownSource, SourceArchiveStore } from './archive-store.ts'
import { noUploader } from './row.ts'
import type { Sources } from './service.ts'
import type { SourceStore } from './store.ts'
import type { SourceWork } from './work.ts'

export interface SourceArchiveParts {
  readonly archive: SourceArchiveStore
  readonly store: Pick<SourceStore, 'counts'>
  readonly documents: Pick<PartStore, 'publish' | 'retire' | 'discard' | 'sweep' | 'docsMaxOf'>
  readonly work: Pick<SourceWork, 'end'>
  readonly addUrl: Sources['addUrl']
  readonly clock: Pick<Clock, 'now'>
  /** Private hosts that tenants may name. */
  readonly allow: () => AllowList
}

/** A source that is being imported; its documents are stored under `id` and not shown yet. */
export interface Arriving {
  readonly id: string
  readonly source: CarriedSource
  /** Whether its regular checks end, because the tenant has too many such pages. */
  readonly isRefreshEnded: boolean
}

/** Exports and imports sources with their documents. */
export function createSourceArchive(parts: SourceArchiveParts) {
  const { archive, store, documents, work, addUrl, clock, allow } = parts

  return {
    carried: archive.carried,
    unreadPages: archive.unreadPages,
    known: (tenantId: string): Promise<KnownSource[]> => archive.known(tenantId),

    /** Checks a source before its documents are imported. Throws the error of its address. */
    async begin(tenantId: string, source: CarriedSource): Promise<Arriving> {
      const id = newId()
      if (source.kind === 'file')
        return { id, isRefreshEnded: false, source: { ...source, url: null, refresh: null } }
      const url = checkedUrl(source.url ?? '', allow()).href
      const wanted = source.refresh ?? 'off'
      const { refreshed } = await store.counts(tenantId)
      const isRefreshEnded = wanted !== 'off' && refreshed >= SOURCES_REFRESHED_MAX
      return {
        id,
        isRefreshEnded,
        source: { ...source, url, refresh: isRefreshEnded ? 'off' : wanted },
      }
    },

    /**
     * Shows a source with its `count` documents, and removes the one that it replaces. Throws
     * `quota_docs` when there is no room for them; nothing has changed then.
     */
    async publish(tenantId: string, arriving: Arriving, count: number, replaces: string | null) {
      const { id, source } = arriving
      const isStored = await archive.publish({ tenant_id: tenantId, id }, source, {
        show: documents.publish(tenantId, id, count),
        replaces:
          replaces === null ? null : { id: replaces, retire: documents.retire(tenantId, replaces) },
        now: clock.now(),
      })
      if (!isStored) throw appError('quota_docs', { max: await documents.docsMaxOf(tenantId) })
      if (replaces !== null) work.end(replaces)
    },

    /** Discards the documents of a source that is not shown. */
    discard: (id: string): Promise<void> => documents.discard(id),

    /** Adds a page that was never read: it is fetched like a new one. */
    async addUnread(tenantId: string, { source }: Arriving): Promise<void> {
      const { url, title, is_named, refresh, collection_id: collection } = source
      const named = is_named === 1 ? title : undefined
      await addUrl(noUploader(tenantId), {
        url: url ?? '',
        refresh: refresh ?? 'off',
        title: named,
        collection,
      })
    },

    /** Removes documents that were replaced or discarded. */
    sweep: documents.sweep,
  }
}

export type SourceArchive = ReturnType<typeof createSourceArchive>
