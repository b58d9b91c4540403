import type { Clock } from '../../core/clock.ts'
import { newId } from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import { orUnavailable } from './index/embedding.ts'
import type { Prepare } from './index/prepare.ts'
import type { KbStore, NewDoc } from './index/store.ts'
import type { KbCreateRequest, KbCreateResponse } from './model.ts'

const NOTE = '文档已保存，向量索引异步生效（通常数秒内可检索）'

/** Limits of what a tenant may store, from the server's settings. */
export interface KbLimits {
  readonly docsMax: number
  /** UTF-8 bytes of the text of a document. */
  readonly docBytesMax: number
}

export interface UploadParts {
  readonly store: KbStore
  readonly prepare: Prepare
  readonly limits: KbLimits
  readonly clock: Clock
}

/** Adds a document. It is embedded before it is stored, so that it is found completely at once. */
export function createUpload({ store, prepare, limits, clock }: UploadParts) {
  const { docsMax, docBytesMax } = limits
  const full = () => appError('quota_docs', { max: docsMax })

  return async function create(
    tenantId: string,
    request: KbCreateRequest,
    signal?: AbortSignal,
  ): Promise<KbCreateResponse> {
    if (Buffer.byteLength(request.text) > docBytesMax) {
      throw appError('doc_too_large', { max: docBytesMax / 1024 })
    }
    if ((await store.count(tenantId)) >= docsMax) throw full()
    // A lone surrogate has no UTF-8 form: the database would return another text.
    const text = request.text.trim().toWellFormed()
    const title = request.title.toWellFormed()
    const { charCount, chunks, model } = await orUnavailable(
      prepare(tenantId, { title, text, places: null }, signal),
    )
    const doc: NewDoc['doc'] = {
      id: newId(),
      title,
      char_count: charCount,
      chunk_count: chunks.length,
      created_at: clock.iso(),
      source_id: null,
      part: null,
      parts: null,
    }
    // Another upload may have reached the quota while this one was embedded.
    if (!(await store.insert({ tenantId, stage: 'live', doc, model, chunks }))) throw full()
    return { ...doc, cited_7d: 0, note: NOTE }
  }
}
