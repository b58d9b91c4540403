import { NO_COLLECTION, within } from '../../../storage/collections.ts'
import {
  type Db,
  expectRows,
  joined,
  type ListReader,
  locked,
  type Reader,
  type Statement,
  sql,
  storedAsExpected,
} from '../../../storage/db.ts'
import { KEYS_PER_DOC, type VectorIndex, type WordIndex } from '../../../storage/indexes.ts'
import type { KbView } from '../collections/access.ts'
import type { KbDoc } from '../model.ts'
import { createDocStore, findDoc } from './doc-store.ts'
import type { ChunkIndex } from './embedding.ts'
import { keyOf, keysOf } from './keys.ts'
import { createPassageStore } from './passage-store.ts'

export interface NewChunk extends Omit<ChunkIndex, 'vector'> {
  /** Null in a document that waits to be embedded. */
  readonly vector: Float32Array | null
  readonly text: string
  readonly page: number | null
  readonly heading: string | null
  /** Whether a model has read its page from a picture; absent: no. */
  readonly ocr?: true | undefined
}

export interface NewDoc {
  readonly tenantId: string
  /** `new`: one of the parts of a source, which are shown together (part-store.ts). */
  readonly stage: 'live' | 'new'
  readonly doc: Omit<KbDoc, 'cited_7d' | 'collection_id'> & Partial<Pick<KbDoc, 'collection_id'>>
  /** `WAITING` while the chunks have no vectors. */
  readonly model: string
  readonly chunks: readonly NewChunk[]
  /** A document that this one replaces. */
  readonly replaces?: string | undefined
  /** A file of a conversation: both indexes hold its entries apart from the tenant's. */
  readonly scope?: string | undefined
}

/** The model of a document that is not embedded yet, and is found by its words meanwhile. */
export const WAITING = ''

export interface KbStoreParts {
  readonly db: Db
  readonly reader: Reader
  /** Reads lists, which no turn waits for. */
  readonly scans: ListReader
  readonly vectors: VectorIndex
  readonly words: WordIndex
  /** Documents that a tenant may have. */
  readonly docsMax: number
  /** Numbers the documents where several processes store them. */
  readonly nextNum?: (() => Promise<number>) | undefined
}

/** Documents and their chunks; each write includes both indexes. */
export function createKbStore(parts: KbStoreParts) {
  const { db, reader, scans, vectors, words, nextNum = countedNums(db) } = parts

  return {
    /**
     * Stores document, chunks, words and vectors, all or nothing; they are on disk when this
     * resolves. False when the tenant has `docsMax` documents; `new` ones do not count. False, too,
     * when its collection was deleted meanwhile. The document that it replaces is hidden in the
     * same transaction, and removed by the next sweep (part-store.ts).
     */
    async insert(added: NewDoc): Promise<boolean> {
      const { tenantId, model, chunks, replaces, scope = tenantId } = added
      // Further keys would be those of the next document, which may be another tenant's.
      if (chunks.length > KEYS_PER_DOC) throw new Error('the document has too many chunks')
      const num = await nextNum()
      const keyed = chunks.map((chunk, seq) => ({ ...chunk, key: keyOf(num, seq) }))
      const embedded = keyed.flatMap(({ key, vector }) => (vector ? [{ key, vector }] : []))
      const batch = db.batch([
        ...(replaces === undefined ? [] : [retireDoc(tenantId, replaces)]),
        expectRows(1, insertDoc(num, added, parts.docsMax)),
        ...chunks.map((chunk, seq) => insertChunk(num, seq, chunk)),
        ...words.upsert(scope, keyed),
        ...(embedded.length > 0 ? vectors.upsert({ tenantId: scope, model }, embedded) : []),
      ])
      return await storedAsExpected(batch)
    },

    /**
     * Once this resolves, no search finds the document. A source is deleted with its last document.
     * False when the view has no such document.
     */
    async remove(view: KbView, id: string): Promise<boolean> {
      const { tenantId } = view
      const doc = await findDoc(db, view, id)
      if (!doc) return false
      const keys = keysOf(doc)
      // It may have left the view since it was found.
      const remove = joined(
        sql`DELETE FROM kb_doc WHERE tenant_id = ${tenantId} AND id = ${id} AND stage = 'live'`,
        within('collection_id', view.collections),
      )
      const batch = db.batch([
        expectRows(1, remove),
        locked('kb_doc', tenantId)`
          DELETE FROM kb_source WHERE tenant_id = ${tenantId} AND id = ${doc.source_id}
          AND NOT EXISTS (
            SELECT 1 FROM kb_doc WHERE source_id = ${doc.source_id} AND stage = 'live')`,
        ...words.remove(keys),
        ...vectors.remove(keys),
      ])
      return await storedAsExpected(batch)
    },

    /** How many documents the tenant may have. */
    async docsMaxOf(tenantId: string): Promise<number> {
      const own = await db.get<{ max_docs: number | null }>(sql`
        SELECT max_docs FROM tenant WHERE id = ${tenantId}`)
      return Math.min(parts.docsMax, own?.max_docs ?? parts.docsMax)
    },

    /** Moves a typed document; false when the view has none, or there is no such collection. */
    async move({ tenantId, collections }: KbView, id: string, to: string): Promise<boolean> {
      const move = joined(
        locked('kb_doc', tenantId)`UPDATE kb_doc SET collection_id = ${to}
        WHERE tenant_id = ${tenantId} AND id = ${id} AND stage = 'live' AND source_id IS NULL
          AND (${to} = ${NO_COLLECTION} OR EXISTS (SELECT 1 FROM kb_collection
            WHERE tenant_id = ${tenantId} AND id = ${to} AND gone = 0))`,
        within('collection_id', collections),
      )
      return (await db.run(move)).changes === 1
    },

    ...createDocStore(db, scans),
    ...createPassageStore(db, reader),
  }
}

export type KbStore = ReturnType<typeof createKbStore>

/**
 * Numbers documents before they are stored, because their keys in both indexes are written in the
 * same batch. A number is not used again when its batch fails, because batches of other documents
 * run at the same time.
 */
function countedNums(db: Db): () => Promise<number> {
  let lastNum = 0
  return async () => {
    const row = await db.get<{ num: number | null }>(sql`SELECT max(num) AS num FROM kb_doc`)
    lastNum = Math.max(lastNum, row?.num ?? 0) + 1
    return lastNum
  }
}

/** Changes no row when the tenant has `docsMax` documents. */
const insertDoc = (num: number, added: NewDoc, docsMax: number): Statement => {
  const { tenantId, doc, model, stage } = added
  const collection = doc.collection_id ?? NO_COLLECTION
  return locked('kb_doc', tenantId)`
  INSERT INTO kb_doc (num, id, tenant_id, title, char_count, chunk_count, created_at, embed_model,
    source_id, part, parts, stage, collection_id)
  SELECT ${num}, ${doc.id}, ${tenantId}, ${doc.title}, ${doc.char_count}, ${doc.chunk_count},
    ${doc.created_at}, ${model}, ${doc.source_id}, ${doc.part}, ${doc.parts}, ${stage},
    ${collection}
  WHERE (${stage} = 'new' OR
      (SELECT count(*) FROM kb_doc WHERE tenant_id = ${tenantId} AND stage = 'live')
        < coalesce((SELECT CASE WHEN max_docs < ${docsMax} THEN max_docs ELSE ${docsMax} END
          FROM tenant WHERE id = ${tenantId}), ${docsMax}))
    AND (${collection} = ${NO_COLLECTION} OR EXISTS (SELECT 1 FROM kb_collection
      WHERE tenant_id = ${tenantId} AND id = ${collection} AND gone = 0))`
}

const retireDoc = (tenantId: string, id: string): Statement => sql`
  UPDATE kb_doc SET stage = 'old' WHERE tenant_id = ${tenantId} AND id = ${id} AND stage = 'live'`

const insertChunk = (num: number, seq: number, { text, page, heading, ocr }: NewChunk) => sql`
  INSERT INTO kb_chunk (doc_num, seq, text, page, heading, ocr)
  VALUES (${num}, ${seq}, ${text}, ${page}, ${heading}, ${ocr ? 1 : 0})`
