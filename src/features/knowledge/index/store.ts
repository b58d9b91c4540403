import { KB_CHUNKS_SHOWN_MAX } from '../../../core/limits/contract.ts'
import {
  type Db,
  expectRows,
  locked,
  type Reader,
  type Statement,
  sql,
  storedAsExpected,
} from '../../../storage/db.ts'
import { docOf, KEYS_PER_DOC, type VectorIndex, type WordIndex } from '../../../storage/indexes.ts'
import type { KbChunk, KbDoc, KbPart } from '../model.ts'
import type { ChunkIndex } from './embedding.ts'
import { ownText } from './index-text.ts'

/** The key of a chunk in both indexes. */
export const keyOf = (num: number, seq: number) => num * KEYS_PER_DOC + seq

interface StoredDoc {
  readonly num: number
  readonly chunk_count: number
}

/** The keys of all chunks of a document. */
export const keysOf = ({ num, chunk_count }: StoredDoc): number[] =>
  Array.from({ length: chunk_count }, (_, seq) => keyOf(num, seq))

const seqOf = (key: number) => key % KEYS_PER_DOC

export interface NewChunk extends Omit<ChunkIndex, 'vector'> {
  /** Null in a document that waits to be embedded. */
  readonly vector: Float32Array | null
  readonly text: string
  readonly page: number | null
  readonly heading: string | null
}

export interface NewDoc {
  readonly tenantId: string
  /** `new`: one of the parts of a source, which are shown together (part-store.ts). */
  readonly stage: 'live' | 'new'
  readonly doc: Omit<KbDoc, 'cited_7d'>
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

/** A chunk as a search returns it and a model reads it. */
export interface Passage extends KbChunk {
  readonly key: number
  readonly doc_id: string
  readonly title: string
}

export interface KbStoreParts {
  readonly db: Db
  readonly reader: Reader
  readonly vectors: VectorIndex
  readonly words: WordIndex
  /** Documents that a tenant may have. */
  readonly docsMax: number
  /** Numbers the documents where several processes store them. */
  readonly nextNum?: (() => Promise<number>) | undefined
}

/** Documents and their chunks; each write includes both indexes. */
export function createKbStore(parts: KbStoreParts) {
  const { db, reader, vectors, words, docsMax, nextNum = countedNums(db) } = parts

  return {
    /**
     * Stores document, chunks, words and vectors, all or nothing; they are on disk when this
     * resolves. False when the tenant has `docsMax` documents; `new` ones do not count. The
     * document that it replaces is hidden in the same transaction, and removed by the next sweep
     * (part-store.ts).
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
        expectRows(1, insertDoc(num, added, docsMax)),
        ...chunks.map((chunk, seq) => insertChunk(num, seq, chunk)),
        ...words.upsert(scope, keyed),
        ...(embedded.length > 0 ? vectors.upsert({ tenantId: scope, model }, embedded) : []),
      ])
      return await storedAsExpected(batch)
    },

    /**
     * Once this resolves, no search finds the document. A source is deleted with its last document.
     * False when there is no such document.
     */
    async remove(tenantId: string, id: string): Promise<boolean> {
      const doc = await findDoc(db, tenantId, id)
      if (!doc) return false
      const keys = keysOf(doc)
      const [removed] = await db.batch([
        sql`DELETE FROM kb_doc WHERE tenant_id = ${tenantId} AND id = ${id} AND stage = 'live'`,
        locked('kb_doc', tenantId)`
          DELETE FROM kb_source WHERE tenant_id = ${tenantId} AND id = ${doc.source_id}
          AND NOT EXISTS (
            SELECT 1 FROM kb_doc WHERE source_id = ${doc.source_id} AND stage = 'live')`,
        ...words.remove(keys),
        ...vectors.remove(keys),
      ])
      return removed?.changes === 1
    },

    ...createReads(db, reader),
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
  return locked('kb_doc', tenantId)`
  INSERT INTO kb_doc (num, id, tenant_id, title, char_count, chunk_count, created_at, embed_model,
    source_id, part, parts, stage)
  SELECT ${num}, ${doc.id}, ${tenantId}, ${doc.title}, ${doc.char_count}, ${doc.chunk_count},
    ${doc.created_at}, ${model}, ${doc.source_id}, ${doc.part}, ${doc.parts}, ${stage}
  WHERE ${stage} = 'new' OR
    (SELECT count(*) FROM kb_doc WHERE tenant_id = ${tenantId} AND stage = 'live') < ${docsMax}`
}

const retireDoc = (tenantId: string, id: string): Statement => sql`
  UPDATE kb_doc SET stage = 'old' WHERE tenant_id = ${tenantId} AND id = ${id} AND stage = 'live'`

const insertChunk = (num: number, seq: number, { text, page, heading }: NewChunk): Statement => sql`
  INSERT INTO kb_chunk (doc_num, seq, text, page, heading)
  VALUES (${num}, ${seq}, ${text}, ${page}, ${heading})`

const findDoc = (db: Db, tenantId: string, id: string) =>
  db.get<StoredDoc & { title: string; source_id: string | null; url: string | null }>(sql`
    SELECT d.num, d.title, d.chunk_count, d.source_id, s.url
    FROM kb_doc d LEFT JOIN kb_source s ON s.id = d.source_id
    WHERE d.tenant_id = ${tenantId} AND d.id = ${id} AND d.stage = 'live'`)

function createReads(db: Db, reader: Reader) {
  return {
    /** All documents with their citations since a day. */
    list: (tenantId: string, citedSince: number) =>
      db.all<KbDoc>(sql`
        SELECT id, title, char_count, chunk_count, created_at, source_id, part, parts,
          (SELECT coalesce(sum(count), 0) FROM kb_citation
            WHERE doc_num = num AND day >= ${citedSince}) AS cited_7d
        FROM kb_doc
        WHERE tenant_id = ${tenantId} AND stage = 'live'
        ORDER BY created_at DESC, source_id NULLS FIRST, part NULLS FIRST, num DESC`),

    async count(tenantId: string): Promise<number> {
      return (await this.size(tenantId)).docs
    },

    /** How many documents and passages the tenant has. */
    async size(tenantId: string): Promise<{ docs: number; passages: number }> {
      const row = await db.get<{ docs: number; passages: number | null }>(sql`
        SELECT count(*) AS docs, sum(chunk_count) AS passages FROM kb_doc
        WHERE tenant_id = ${tenantId} AND stage = 'live'`)
      return { docs: row?.docs ?? 0, passages: row?.passages ?? 0 }
    },

    /** The keys of `count` passages spread over the tenant's documents, or of all when fewer. */
    async someKeys(tenantId: string, count: number): Promise<number[]> {
      const docs = await db.all<{ num: number; chunk_count: number }>(sql`
        SELECT num, chunk_count FROM kb_doc
        WHERE tenant_id = ${tenantId} AND stage = 'live' ORDER BY num`)
      const all = docs.reduce((sum, { chunk_count }) => sum + chunk_count, 0)
      const step = Math.max(1, all / count)
      const keys: number[] = []
      let start = 0
      for (const { num, chunk_count } of docs) {
        for (; keys.length < count && keys.length * step < start + chunk_count; ) {
          keys.push(keyOf(num, Math.floor(keys.length * step) - start))
        }
        start += chunk_count
      }
      return keys
    },

    /** Null when the tenant has no such document. */
    async chunks(tenantId: string, id: string, from: number): Promise<KbChunk[] | null> {
      const doc = await findDoc(db, tenantId, id)
      if (!doc) return null
      return db.all<KbChunk>(sql`
        SELECT seq, text, page, heading, ${doc.url} AS url FROM kb_chunk
        WHERE doc_num = ${doc.num} AND seq >= ${from}
        ORDER BY seq LIMIT ${KB_CHUNKS_SHOWN_MAX}`)
    },

    /** `count` chunks from number `from` on; null when the tenant has no such document. */
    async part(tenantId: string, id: string, from: number, count: number): Promise<KbPart | null> {
      const doc = await findDoc(db, tenantId, id)
      if (!doc) return null
      const chunks = await db.all<KbPart['chunks'][number]>(sql`
        SELECT seq, text FROM kb_chunk WHERE doc_num = ${doc.num} AND seq >= ${from}
        ORDER BY seq LIMIT ${count}`)
      const next = (chunks.at(-1)?.seq ?? doc.chunk_count) + 1
      const next_seq = next < doc.chunk_count ? next : null
      return { title: doc.title, url: doc.url, chunks, next_seq }
    },

    /** The passages of those keys that belong to the tenant, unordered. */
    async passages(
      tenantId: string,
      keys: readonly number[],
      signal?: AbortSignal,
    ): Promise<Passage[]> {
      const wanted = JSON.stringify(keys.map((key) => [docOf(key), seqOf(key)]))
      // CROSS JOIN fixes the order; otherwise SQLite reads all of the tenant's chunks.
      const found = sql`
        SELECT d.num, d.id AS doc_id, d.title, c.seq, c.text, c.page, c.heading, s.url,
          b.text AS before
        FROM json_each(${wanted}) w
          CROSS JOIN kb_doc d
          CROSS JOIN kb_chunk c
          LEFT JOIN kb_chunk b ON b.doc_num = d.num AND b.seq = c.seq - 1
          LEFT JOIN kb_source s ON s.id = d.source_id
        WHERE d.num = CAST(w.value ->> 0 AS BIGINT) AND d.tenant_id = ${tenantId}
          AND d.stage = 'live'
          AND c.doc_num = d.num AND c.seq = CAST(w.value ->> 1 AS BIGINT)`
      type Row = Omit<Passage, 'key'> & { num: number; before: string | null }
      const rows = await reader.all<Row>(tenantId, found, signal)
      return rows.map(({ num, before, ...row }) => ({
        ...row,
        text: ownText(before ?? '', row.text),
        key: keyOf(num, row.seq),
      }))
    },
  }
}
