import { KB_CHUNKS_SHOWN_MAX, KB_DOCS_MAX } from '../../core/limits/contract.ts'
import { type Db, type Statement, sql } from '../../storage/db.ts'
import type { VectorIndex } from '../../storage/vectors.ts'
import type { WordIndex } from '../../storage/words.ts'
import { keyOf, numOf, seqOf } from './chunk-keys.ts'
import type { IndexedPassage } from './index-passages.ts'
import type { KbChunk, KbDoc } from './model.ts'

export interface IndexedChunk extends IndexedPassage {
  readonly text: string
}

export interface NewDoc {
  readonly tenantId: string
  readonly doc: KbDoc
  readonly model: string
  readonly chunks: readonly IndexedChunk[]
}

/** A chunk found by a search, with what is told of it. */
export interface FoundChunk extends KbChunk {
  readonly key: number
  readonly doc_id: string
  readonly title: string
}

export interface KbStoreParts {
  readonly db: Db
  readonly vectors: VectorIndex
  readonly words: WordIndex
}

/** Documents and their chunks, written together with both indexes of them. */
export function createKbStore({ db, vectors, words }: KbStoreParts) {
  let lastNum = 0

  /**
   * Documents are numbered here, so that both indexes can be written in the same batch. A number
   * is given out once, whatever becomes of its batch: others are on their way beside it.
   */
  async function nextNum(): Promise<number> {
    const row = await db.get<{ num: number | null }>(sql`SELECT max(num) AS num FROM kb_doc`)
    lastNum = Math.max(lastNum, row?.num ?? 0) + 1
    return lastNum
  }

  return {
    /**
     * Document, chunks, words and vectors, all or nothing; on disk when this resolves. False, and
     * nothing is stored, when the tenant has `KB_DOCS_MAX` documents by then.
     */
    async insert({ tenantId, doc, model, chunks }: NewDoc): Promise<boolean> {
      const num = await nextNum()
      const keyed = chunks.map((chunk, seq) => ({ ...chunk, key: keyOf(num, seq) }))
      try {
        await db.batch([
          insertDoc(num, tenantId, doc, model),
          ...chunks.map(
            ({ text }, seq) =>
              sql`INSERT INTO kb_chunk (doc_num, seq, text) VALUES (${num}, ${seq}, ${text})`,
          ),
          ...words.upsert(tenantId, keyed),
          ...vectors.upsert({ tenantId, model }, keyed),
        ])
        return true
      } catch (error) {
        if (error instanceof Error && error.message.includes(OVER_QUOTA)) return false
        throw error
      }
    },

    /** Whether it was there. Nothing of it is found once this resolves. */
    async remove(tenantId: string, id: string): Promise<boolean> {
      const doc = await findDoc(db, tenantId, id)
      if (!doc) return false
      const keys = Array.from({ length: doc.chunk_count }, (_, seq) => keyOf(doc.num, seq))
      const [removed] = await db.batch([
        sql`DELETE FROM kb_doc WHERE tenant_id = ${tenantId} AND id = ${id}`,
        ...words.remove(keys),
        ...vectors.remove(keys),
      ])
      return removed?.changes === 1
    },

    ...createReads(db),
  }
}

export type KbStore = ReturnType<typeof createKbStore>

/** What a database says of it names the column that refused. */
const OVER_QUOTA = 'kb_doc.tenant_id'

/**
 * The count is checked in the statement itself, against what is stored when it runs: a document too
 * many would have no tenant, which its column refuses, and with it the batch.
 */
const insertDoc = (num: number, tenantId: string, doc: KbDoc, model: string): Statement => sql`
  INSERT INTO kb_doc (num, id, tenant_id, title, char_count, chunk_count, created_at, embed_model)
  SELECT ${num}, ${doc.id},
    CASE WHEN (SELECT count(*) FROM kb_doc WHERE tenant_id = ${tenantId}) < ${KB_DOCS_MAX}
      THEN ${tenantId} END,
    ${doc.title}, ${doc.char_count}, ${doc.chunk_count}, ${doc.created_at}, ${model}`

const findDoc = (db: Db, tenantId: string, id: string) =>
  db.get<{ num: number; chunk_count: number }>(
    sql`SELECT num, chunk_count FROM kb_doc WHERE tenant_id = ${tenantId} AND id = ${id}`,
  )

/** What is read of documents outside of searches. */
function createReads(db: Db) {
  return {
    list: (tenantId: string) =>
      db.all<KbDoc>(sql`
        SELECT id, title, char_count, chunk_count, created_at FROM kb_doc
        WHERE tenant_id = ${tenantId} ORDER BY created_at DESC, num DESC`),

    async count(tenantId: string): Promise<number> {
      const row = await db.get<{ docs: number }>(
        sql`SELECT count(*) AS docs FROM kb_doc WHERE tenant_id = ${tenantId}`,
      )
      return row?.docs ?? 0
    },

    /** Null when the tenant has no such document. */
    async chunks(tenantId: string, id: string): Promise<KbChunk[] | null> {
      const doc = await findDoc(db, tenantId, id)
      if (!doc) return null
      return db.all<KbChunk>(sql`
        SELECT seq, text FROM kb_chunk WHERE doc_num = ${doc.num}
        ORDER BY seq LIMIT ${KB_CHUNKS_SHOWN_MAX}`)
    },

    /** Those of the keys that are the tenant's, in no order. */
    async found(tenantId: string, keys: readonly number[]): Promise<FoundChunk[]> {
      const wanted = JSON.stringify(keys.map((key) => [numOf(key), seqOf(key)]))
      const rows = await db.all<Omit<FoundChunk, 'key'> & { num: number }>(sql`
        SELECT d.num, d.id AS doc_id, d.title, c.seq, c.text
        FROM json_each(${wanted}) w
          JOIN kb_doc d ON d.num = w.value ->> 0 AND d.tenant_id = ${tenantId}
          JOIN kb_chunk c ON c.doc_num = d.num AND c.seq = w.value ->> 1`)
      return rows.map(({ num, ...row }) => ({ ...row, key: keyOf(num, row.seq) }))
    },
  }
}
