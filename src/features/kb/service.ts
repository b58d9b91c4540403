import type { Embedder } from '../../channels/ports/embedder.ts'
import type { Clock } from '../../core/clock.ts'
import { appError } from '../../core/errors.ts'
import { KB_PREVIEW_CHARS_MAX, KB_SCORE_MIN } from '../../core/limits/contract.ts'
import {
  KB_RETRIEVAL_MS_MAX,
  KB_SEARCHES_PER_TENANT_MAX,
  KB_UPLOADS_PER_TENANT_MAX,
} from '../../core/limits/machine.ts'
import { createSemaphore } from '../../core/semaphore.ts'
import { firstChars } from '../../core/text.ts'
import { orUnavailable } from './embed-errors.ts'
import type { KbChunk, KbCreateRequest, KbDoc, KbHit } from './model.ts'
import type { createSearch, ScoredChunk } from './search.ts'
import type { KbStore } from './store.ts'
import { createUpload } from './upload.ts'

export interface KbParts {
  readonly store: KbStore
  readonly embedder: Embedder
  readonly search: ReturnType<typeof createSearch>
  readonly clock: Clock
}

/** A tenant's documents, and what is found in them (specification, Knowledge base). */
export function createKb({ store, embedder, search, clock }: KbParts) {
  const upload = createUpload({ store, embedder, clock })
  const searches = createSemaphore({ perKey: KB_SEARCHES_PER_TENANT_MAX }).run
  const uploads = createSemaphore({ perKey: KB_UPLOADS_PER_TENANT_MAX }).run

  const searchChunks = (tenantId: string, question: string, signal?: AbortSignal) =>
    searches(tenantId, () => search(tenantId, question, signal), signal)

  return {
    create: (tenantId: string, request: KbCreateRequest, signal?: AbortSignal) =>
      uploads(tenantId, () => upload(tenantId, request, signal), signal),

    async list(tenantId: string): Promise<{ docs: KbDoc[] }> {
      return { docs: await store.list(tenantId) }
    },

    async remove(tenantId: string, id: string): Promise<{ id: string; deleted: boolean }> {
      if (!(await store.remove(tenantId, id))) throw appError('not_found', { what: 'doc' })
      return { id, deleted: true }
    },

    async chunks(tenantId: string, id: string): Promise<{ chunks: KbChunk[] }> {
      const chunks = await store.chunks(tenantId, id)
      if (!chunks) throw appError('not_found', { what: 'doc' })
      return { chunks }
    },

    /** The debug aid: the best hits, however far. */
    async search(tenantId: string, q: string, signal?: AbortSignal): Promise<{ results: KbHit[] }> {
      const hits = await orUnavailable(searchChunks(tenantId, q, signal))
      return { results: hits.map(hitOf) }
    },

    /**
     * What an agent turn is shown: whole chunks that are near enough; empty without documents.
     * Rejects when that takes too long: a person waits, and an embedder may hang.
     */
    async retrieve(tenantId: string, text: string, signal?: AbortSignal): Promise<KbHit[]> {
      if ((await store.count(tenantId)) === 0) return []
      const late = new AbortController()
      const tooLate = () => late.abort(new Error('retrieval took too long'))
      const stop = clock.after(KB_RETRIEVAL_MS_MAX, tooLate)
      const either = signal ? AbortSignal.any([signal, late.signal]) : late.signal
      const hits = await searchChunks(tenantId, text, either).finally(stop)
      return hits
        .filter(({ score }) => score >= KB_SCORE_MIN)
        .map(({ doc_id, title, seq, score, text }) => ({ doc_id, title, seq, score, text }))
    },
  }
}

export type Kb = ReturnType<typeof createKb>

function hitOf({ doc_id, title, seq, score, text }: ScoredChunk): KbHit {
  return { doc_id, title, seq, score, text: firstChars(text, KB_PREVIEW_CHARS_MAX) }
}
