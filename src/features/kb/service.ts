import type { Embedder } from '../../channels/embedder.ts'
import { ChannelFailure } from '../../channels/failure.ts'
import type { Clock } from '../../core/clock.ts'
import { forbidden, notFound, tooLarge, upstream } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import {
  KB_DOC_BYTES_MAX,
  KB_DOCS_MAX,
  KB_PREVIEW_CHARS_MAX,
  KB_SCORE_MIN,
} from '../../core/limits.ts'
import { charCount, firstChars } from '../../core/text.ts'
import { chunk } from './chunk.ts'
import type { KbChunk, KbCreateRequest, KbCreateResponse, KbDoc, KbHit } from './model.ts'
import { passageText } from './passage.ts'
import type { createSearch, ScoredChunk } from './search.ts'
import type { IndexedChunk, KbStore } from './store.ts'
import { termsOf } from './terms.ts'

const NOTE = '文档已保存，向量索引异步生效（通常数秒内可检索）'
const UNAVAILABLE = '知识库向量服务暂不可用，请稍后重试'

/** Chunks that are embedded and looked over before other requests get their turn. */
const SLICE_CHUNKS = 8

export interface KbParts {
  readonly store: KbStore
  readonly embedder: Embedder
  readonly search: ReturnType<typeof createSearch>
  readonly clock: Clock
}

export function createKb({ store, embedder, search: searchChunks, clock }: KbParts) {
  /** Embeds first, so that what is stored is whole and found at once. */
  async function create(
    tenantId: string,
    request: KbCreateRequest,
    signal?: AbortSignal,
  ): Promise<KbCreateResponse> {
    if (Buffer.byteLength(request.text) > KB_DOC_BYTES_MAX) {
      throw tooLarge(`文档过大（最多 ${KB_DOC_BYTES_MAX / 1024} KB）`)
    }
    await checkQuota(tenantId)
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
    try {
      await store.insert({ tenantId, doc, model: embedder.id, chunks })
    } catch (error) {
      // Another upload may have taken the last place while this one was embedded.
      await checkQuota(tenantId)
      throw error
    }
    return { ...doc, note: NOTE }
  }

  async function checkQuota(tenantId: string): Promise<void> {
    if ((await store.count(tenantId)) < KB_DOCS_MAX) return
    throw forbidden(`知识库文档数已达上限（${KB_DOCS_MAX} 篇）`)
  }

  /** In slices: looking words up takes this thread, which other requests wait for. */
  async function index(title: string, pieces: readonly string[], signal?: AbortSignal) {
    const chunks: IndexedChunk[] = []
    for (let from = 0; from < pieces.length; from += SLICE_CHUNKS) {
      const slice = pieces.slice(from, from + SLICE_CHUNKS)
      const passages = slice.map((piece) => passageText(title, piece))
      const vectors = await orUnavailable(embedder.embed(passages, 'passage', signal))
      for (const [i, piece] of slice.entries()) {
        const vector = vectors[i]
        if (!vector) throw upstream(UNAVAILABLE)
        chunks.push({ text: piece, vector, terms: termsOf(passages[i] ?? piece) })
      }
    }
    return chunks
  }

  return {
    create,

    async list(tenantId: string): Promise<{ docs: KbDoc[] }> {
      return { docs: await store.list(tenantId) }
    },

    async remove(tenantId: string, id: string): Promise<{ id: string; deleted: boolean }> {
      if (!(await store.remove(tenantId, id))) throw notFound('文档不存在')
      return { id, deleted: true }
    },

    async chunks(tenantId: string, id: string): Promise<{ chunks: KbChunk[] }> {
      const chunks = await store.chunks(tenantId, id)
      if (!chunks) throw notFound('文档不存在')
      return { chunks }
    },

    /** The debug aid: the best hits, however far. */
    async search(tenantId: string, q: string, signal?: AbortSignal): Promise<{ results: KbHit[] }> {
      const hits = await orUnavailable(searchChunks(tenantId, q, signal))
      return { results: hits.map(hitOf) }
    },

    /** What an agent turn is shown: whole chunks that are near enough; empty without documents. */
    async retrieve(tenantId: string, text: string, signal?: AbortSignal): Promise<KbHit[]> {
      if ((await store.count(tenantId)) === 0) return []
      const hits = await searchChunks(tenantId, text, signal)
      return hits
        .filter(({ score }) => score >= KB_SCORE_MIN)
        .map(({ doc_id, title, seq, score, text }) => ({ doc_id, title, seq, score, text }))
    },
  }
}

export type Kb = ReturnType<typeof createKb>

async function orUnavailable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof ChannelFailure) throw upstream(UNAVAILABLE, error)
    throw error
  }
}

function hitOf({ doc_id, title, seq, score, text }: ScoredChunk): KbHit {
  return { doc_id, title, seq, score, text: firstChars(text, KB_PREVIEW_CHARS_MAX) }
}
