import type { Clock } from '../../core/clock.ts'
import { newId } from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import { NO_COLLECTION } from '../../storage/collections.ts'
import { missingCollection } from './collections/access.ts'
import { orUnavailable } from './index/embedding.ts'
import type { Prepare } from './index/prepare.ts'
import type { KbStore } from './index/store.ts'
import type { KbCreateRequest, KbCreateResponse } from './model.ts'

const NOTE = '文档已保存，向量索引异步生效（通常数秒内可检索）'

/** Limits of what a tenant may store, from the server's settings. */
export interface KbLimits {
  readonly docsMax: number
  /** UTF-8 bytes of the text of a document. */
  readonly docBytesMax: number
}

export interface NewDocument extends Pick<KbCreateRequest, 'title' | 'text'> {
  /** The id of a collection; absent: none. */
  readonly collection?: string
}

export interface UploadParts {
  readonly store: KbStore
  readonly prepare: Prepare
  readonly limits: KbLimits
  readonly clock: Clock
}

/** Adds a document. It is embedded before it is stored, so that it is found completely at once. */
export function createUpload({ store, prepare, limits, clock }: UploadParts) {
  return async function create(
    tenantId: string,
    request: NewDocument,
    signal?: AbortSignal,
  ): Promise<KbCreateResponse> {
    const { collection = NO_COLLECTION } = request
    const { docBytesMax } = limits
    if (Buffer.byteLength(request.text) > docBytesMax) {
      throw appError('doc_too_large', { max: docBytesMax / 1024 })
    }
    const docsMax = await store.docsMaxOf(tenantId)
    const full = () => appError('quota_docs', { max: docsMax })
    if ((await store.count(tenantId)) >= docsMax) throw full()
    // A lone surrogate has no UTF-8 form: the database would return another text.
    const text = request.text.trim().toWellFormed()
    const title = request.title.toWellFormed()
    const { charCount, chunks, model } = await orUnavailable(
      prepare(tenantId, { title, text, places: null }, signal),
    )
    const doc = {
      id: newId(),
      title,
      char_count: charCount,
      chunk_count: chunks.length,
      created_at: clock.iso(),
      source_id: null,
      part: null,
      parts: null,
      collection_id: collection === NO_COLLECTION ? null : collection,
    }
    if (!(await store.insert({ tenantId, stage: 'live', doc, model, chunks }))) {
      // Another upload may have reached the quota while this one was embedded.
      throw (await store.hasCollection(tenantId, collection)) ? full() : missingCollection()
    }
    return { ...doc, cited_7d: 0, note: NOTE }
  }
}
