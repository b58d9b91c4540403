import type { Embedder } from '../../channels/embedder.ts'
import type { Clock } from '../../core/clock.ts'
import { forbidden, tooLarge } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { KB_DOC_BYTES_MAX, KB_DOCS_MAX } from '../../core/limits.ts'
import { charCount } from '../../core/text.ts'
import { chunk } from './chunk.ts'
import type { KbCreateRequest, KbCreateResponse, KbDoc } from './model.ts'
import { passagesOf } from './passage.ts'
import type { IndexedChunk, KbStore } from './store.ts'
import { termsOf } from './terms.ts'
import { orUnavailable, unavailable } from './unavailable.ts'

const NOTE = '文档已保存，向量索引异步生效（通常数秒内可检索）'

/** Chunks that are embedded and looked over before other requests get their turn. */
const SLICE_CHUNKS = 8

export interface UploadParts {
  readonly store: KbStore
  readonly embedder: Embedder
  readonly clock: Clock
}

/** Takes a document in. Embeds it first, so that what is stored is whole and found at once. */
export function createUpload({ store, embedder, clock }: UploadParts) {
  const full = () => forbidden(`知识库文档数已达上限（${KB_DOCS_MAX} 篇）`)

  /** In slices: looking words up takes this thread, which other requests wait for. */
  async function index(title: string, pieces: readonly string[], signal?: AbortSignal) {
    const all = passagesOf(title, pieces)
    const chunks: IndexedChunk[] = []
    for (let from = 0; from < pieces.length; from += SLICE_CHUNKS) {
      const slice = pieces.slice(from, from + SLICE_CHUNKS)
      const passages = all.slice(from, from + SLICE_CHUNKS)
      const vectors = await orUnavailable(embedder.embed(passages, 'passage', signal))
      for (const [i, text] of slice.entries()) {
        const vector = vectors[i]
        if (!vector) throw unavailable()
        chunks.push({ text, vector, terms: termsOf(passages[i] ?? text) })
      }
    }
    return chunks
  }

  return async function create(
    tenantId: string,
    request: KbCreateRequest,
    signal?: AbortSignal,
  ): Promise<KbCreateResponse> {
    if (Buffer.byteLength(request.text) > KB_DOC_BYTES_MAX) {
      throw tooLarge(`文档过大（最多 ${KB_DOC_BYTES_MAX / 1024} KB）`)
    }
    if ((await store.count(tenantId)) >= KB_DOCS_MAX) throw full()
    // A lone surrogate has no UTF-8 form, so it would come back from the database as another text.
    const text = request.text.trim().toWellFormed()
    const title = request.title.toWellFormed()
    const pieces = chunk(text)
    const chunks = await index(title, pieces, signal)
    const doc: KbDoc = {
      id: newId(),
      title,
      char_count: charCount(text),
      chunk_count: pieces.length,
      created_at: clock.iso(),
    }
    // Another upload may have taken the last place while this one was embedded.
    if (!(await store.insert({ tenantId, doc, model: embedder.id, chunks }))) throw full()
    return { ...doc, note: NOTE }
  }
}
