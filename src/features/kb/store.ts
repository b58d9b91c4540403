import { KB_CHUNKS_SHOWN_MAX, KB_DOCS_MAX } from '../../core/limits.ts'
import { type Db, type Statement, sql } from '../../storage/db.ts'
import type { VectorIndex } from '../../storage/vectors.ts'
import type { WordIndex } from '../../storage/words.ts'
import type { KbChunk, KbDoc } from './model.ts'

/** Chunks a document may have: far more than a document of the greatest size has. */
const CHUNKS_PER_DOC_MAX = 1024

/** A chunk as both indexes know it. */
export const keyOf = (num: number, seq: number) => num * CHUNKS_PER_DOC_MAX + seq
const seqOf = (key: number) => key % CHUNKS_PER_DOC_MAX
const numOf = (key: number) => Math.floor(key / CHUNKS_PER_DOC_MAX)

export interface IndexedChunk {
  readonly text: string
  readonly vector: Float32Array
  readonly terms: readonly string[]
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

/** A document whose vectors are not of the model in use. */
export interface StaleDoc {
  readonly num: number
  readonly tenant_id: string
  readonly title: string
  readonly embed_attempts: number
}

export interface KbStoreParts {
  readonly db: Db
  readonly vectors: VectorIndex
  readonly words: WordIndex
}

export function createKbStore({ db, vectors, words }: KbStoreParts) {
  /** Documents are numbered here, so that both indexes can be written in the same batch. */
  let lastNum: Promise<number> | null = null

  async function nextNum(): Promise<number> {
    const before = lastNum ?? highestNum()
    lastNum = before.then((num) => num + 1)
    return lastNum
  }

  async function highestNum(): Promise<number> {
    const row = await db.get<{ num: number | null }>(sql`SELECT max(num) AS num FROM kb_doc`)
    return row?.num ?? 0
  }

  async function find(tenantId: string, id: string) {
    return db.get<{ num: number; chunk_count: number }>(
      sql`SELECT num, chunk_count FROM kb_doc WHERE tenant_id = ${tenantId} AND id = ${id}`,
    )
  }

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

    /**
     * Document, chunks, words and vectors, all or nothing; on disk when this resolves. Rejects when
     * the tenant has `KB_DOCS_MAX` documents by then.
     */
    async insert({ tenantId, doc, model, chunks }: NewDoc): Promise<void> {
      try {
        const num = await nextNum()
        const keyed = chunks.map((chunk, seq) => ({ ...chunk, key: keyOf(num, seq) }))
        await db.batch([
          insertDoc(num, tenantId, doc, model),
          ...chunks.map(
            ({ text }, seq) =>
              sql`INSERT INTO kb_chunk (doc_num, seq, text) VALUES (${num}, ${seq}, ${text})`,
          ),
          ...words.upsert(tenantId, keyed),
          ...vectors.upsert({ tenantId, model }, keyed),
        ])
      } catch (error) {
        // Should another process have taken the number, the next try reads it anew.
        lastNum = null
        throw error
      }
    },

    /** Whether it was there. Nothing of it is found once this resolves. */
    async remove(tenantId: string, id: string): Promise<boolean> {
      const doc = await find(tenantId, id)
      if (!doc) return false
      const keys = Array.from({ length: doc.chunk_count }, (_, seq) => keyOf(doc.num, seq))
      const [removed] = await db.batch([
        sql`DELETE FROM kb_doc WHERE tenant_id = ${tenantId} AND id = ${id}`,
        ...words.remove(keys),
        ...vectors.remove(keys),
      ])
      return removed?.changes === 1
    },

    /** Null when the tenant has no such document. */
    async chunks(tenantId: string, id: string): Promise<KbChunk[] | null> {
      const doc = await find(tenantId, id)
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

    ...staleDocs({ db, vectors }),
  }
}

export type KbStore = ReturnType<typeof createKbStore>

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

/** The documents that wait for vectors of another model; this list outlives a restart. */
function staleDocs({ db, vectors }: Pick<KbStoreParts, 'db' | 'vectors'>) {
  return {
    /** The next one to embed anew, of any tenant, or null while there is none or all have to wait. */
    nextStale: (model: string, now: number) =>
      db.get<StaleDoc>(sql`
        SELECT num, tenant_id, title, embed_attempts FROM kb_doc
        WHERE embed_model <> ${model} AND embed_after <= ${now} ORDER BY embed_after, num LIMIT 1`),

    async countStale(model: string): Promise<{ stale: number; all: number }> {
      const row = await db.get<{ stale: number | null; docs: number }>(sql`
        SELECT sum(embed_model <> ${model}) AS stale, count(*) AS docs FROM kb_doc`)
      return { stale: row?.stale ?? 0, all: row?.docs ?? 0 }
    },

    async textsOf({ num, tenant_id }: StaleDoc): Promise<string[]> {
      const rows = await db.all<{ text: string }>(sql`
        SELECT c.text FROM kb_chunk c JOIN kb_doc d ON d.num = c.doc_num
        WHERE c.doc_num = ${num} AND d.tenant_id = ${tenant_id} ORDER BY c.seq`)
      return rows.map(({ text }) => text)
    },

    /** Replaces the vectors of one document, unless it was deleted meanwhile. */
    async replaceVectors(doc: StaleDoc, model: string, fresh: readonly Float32Array[]) {
      const { num, tenant_id: tenantId } = doc
      const entries = fresh.map((vector, seq) => ({ vector, key: keyOf(num, seq) }))
      await db.batch([
        ...vectors.remove(entries.map(({ key }) => key)),
        ...vectors.upsert({ tenantId, model }, entries),
        // Fails the batch when the document has gone: its vectors would be found and lead nowhere.
        sql`INSERT INTO kb_chunk (doc_num, seq, text)
          SELECT NULL, 0, '' WHERE NOT EXISTS (SELECT 1 FROM kb_doc WHERE num = ${num})`,
        sql`UPDATE kb_doc SET embed_model = ${model}, embed_attempts = 0, embed_after = 0
          WHERE tenant_id = ${tenantId} AND num = ${num}`,
      ])
    },

    postpone: ({ num, tenant_id }: StaleDoc, until: number) =>
      db.run(sql`UPDATE kb_doc SET embed_attempts = embed_attempts + 1, embed_after = ${until}
        WHERE tenant_id = ${tenant_id} AND num = ${num}`),
  }
}
