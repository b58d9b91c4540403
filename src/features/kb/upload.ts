import type { Clock } from '../../core/clock.ts'
import { newId } from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import { KB_DOC_BYTES_MAX, KB_DOCS_MAX } from '../../core/limits/contract.ts'
import { charCount } from '../../core/text.ts'
import { timeSlice } from '../../core/time-slice.ts'
import { chunk } from './chunking.ts'
import { orUnavailable, type SharedEmbedder } from './embedding.ts'
import { indexTextsOf } from './index-text.ts'
import type { KbCreateRequest, KbCreateResponse, KbDoc } from './model.ts'
import type { KbStore } from './store.ts'

const NOTE = '文档已保存，向量索引异步生效（通常数秒内可检索）'

export interface UploadParts {
  readonly store: KbStore
  readonly embedder: SharedEmbedder
  readonly clock: Clock
}

/** Adds a document. It is embedded first, so that what is stored is whole and found at once. */
export function createUpload({ store, embedder, clock }: UploadParts) {
  const full = () => appError('quota_docs', { max: KB_DOCS_MAX })

  return async function create(
    tenantId: string,
    request: KbCreateRequest,
    signal?: AbortSignal,
  ): Promise<KbCreateResponse> {
    if (Buffer.byteLength(request.text) > KB_DOC_BYTES_MAX) {
      throw appError('doc_too_large', { max: KB_DOC_BYTES_MAX / 1024 })
    }
    if ((await store.count(tenantId)) >= KB_DOCS_MAX) throw full()
    // A lone surrogate has no UTF-8 form, so it would come back from the database as another text.
    const text = request.text.trim().toWellFormed()
    const title = request.title.toWellFormed()
    const slice = timeSlice(clock.steady)
    const texts = chunk(text)
    if (slice.isOver()) await slice.next()
    const indexTexts = indexTextsOf(title, texts)
    const indexed = await orUnavailable(embedder.indexChunks(tenantId, indexTexts, signal))
    const doc: KbDoc = {
      id: newId(),
      title,
      char_count: charCount(text),
      chunk_count: texts.length,
      created_at: clock.iso(),
    }
    const chunks = indexed.map((index, seq) => ({ ...index, text: texts[seq] ?? '' }))
    // Another upload may have taken the last place while this one was embedded.
    if (!(await store.insert({ tenantId, doc, model: embedder.id, chunks }))) throw full()
    return { ...doc, note: NOTE }
  }
}
