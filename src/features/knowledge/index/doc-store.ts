import { JsonItems } from '../../../core/json.ts'
import { KB_CHUNKS_SHOWN_MAX } from '../../../core/limits/contract.ts'
import { NO_COLLECTION, within } from '../../../storage/collections.ts'
import {
  type Db,
  joined,
  type ListReader,
  type Statement,
  sql,
  textRows,
} from '../../../storage/db.ts'
import type { KbView } from '../collections/access.ts'
import type { KbChunk, KbDoc, KbPart } from '../model.ts'
import type { StoredDoc } from './keys.ts'

type FoundDoc = StoredDoc & { title: string; source_id: string | null; url: string | null }

/** A live document of the view, by its id. */
export const findDoc = (db: Db, { tenantId, collections }: KbView, id: string) =>
  db.get<FoundDoc>(
    joined(
      sql`SELECT d.num, d.title, d.chunk_count, d.source_id, s.url
        FROM kb_doc d LEFT JOIN kb_source s ON s.id = d.source_id
        WHERE d.tenant_id = ${tenantId} AND d.id = ${id} AND d.stage = 'live'`,
      within('d.collection_id', collections),
    ),
  )

/** What each field of a document is read by; the arguments are those of `listedArgs`. */
const FIELDS: Readonly<Record<keyof KbDoc, string>> = {
  id: 'id',
  title: 'title',
  char_count: 'char_count',
  chunk_count: 'chunk_count',
  created_at: 'created_at',
  source_id: 'source_id',
  part: 'part',
  parts: 'parts',
  collection_id: 'nullif(collection_id, ?)',
  cited_7d: `(SELECT coalesce(sum(count), 0) FROM kb_citation WHERE doc_num = num AND day >= ?)`,
}
const listedArgs = (citedSince: number) => [NO_COLLECTION, citedSince]

const columnsOf = (fields: Readonly<Record<string, string>>) =>
  Object.entries(fields).map(([name, value]) => `${value} AS ${name}`)
const COLUMNS = columnsOf(FIELDS)
const NUMBERS = new Set(['char_count', 'chunk_count', 'part', 'parts', 'cited_7d'])
/**
 * Columns as JSON without spaces, in both databases: PostgreSQL's own objects have some. Numbers
 * are written so as they are, which takes half the time.
 */
const ITEM = `'{' || ${Object.keys(FIELDS)
  .map((name, i) => {
    const value = NUMBERS.has(name) ? name : `json_quote(${name})`
    return `'${i === 0 ? '' : ','}"${name}":' || coalesce(CAST(${value} AS TEXT), 'null')`
  })
  .join(' || ')} || '}'`

/** Newest first, and parts in their order. */
const ORDER = 'ORDER BY created_at DESC, source_id NULLS FIRST, part NULLS FIRST, num DESC'

/** Documents of one text, a few milliseconds; then lists and searches that wait go on. */
const LISTED_AT_ONCE = 500

/**
 * Those of the documents that are still there, in order. The database writes the JSON: as rows, ten
 * thousand would hold the event loop for longer than it takes to read them.
 */
const itemsOf = (tenantId: string, nums: readonly string[], citedSince: number): Statement =>
  joined(
    {
      sql: `SELECT string_agg(${ITEM}, ',' ORDER BY place) AS items
        FROM (SELECT ${COLUMNS}, place`,
      args: listedArgs(citedSince),
    },
    // The cross join reads each by its number: SQLite would look through all of the tenant.
    sql`FROM (SELECT CAST(value ->> 0 AS BIGINT) AS wanted, key AS place
        FROM json_each(${`[[${nums.join('],[')}]]`})) AS listed CROSS JOIN kb_doc
      WHERE num = wanted AND tenant_id = ${tenantId} AND stage = 'live') AS doc`,
  )

/**
 * All of the documents by one statement, in texts of as many as `itemsOf` reads. PostgreSQL joins
 * all citations in a third of the time that it takes to look for those of each document.
 */
const allItemsOf = (chosen: Statement, citedSince: number): Statement =>
  joined(
    {
      sql: `SELECT string_agg(${ITEM}, ',' ORDER BY place) AS items
        FROM (SELECT ${columnsOf({ ...FIELDS, cited_7d: 'coalesce(cited, 0)' })},
          row_number() OVER (${ORDER}) - 1 AS place
          FROM kb_doc LEFT JOIN (SELECT doc_num, sum(count) AS cited
            FROM kb_citation JOIN kb_doc ON num = doc_num`,
      args: [NO_COLLECTION],
    },
    chosen,
    sql`AND day >= ${citedSince} GROUP BY doc_num) AS citation ON doc_num = num`,
    chosen,
    sql`) AS doc GROUP BY place / ${LISTED_AT_ONCE} ORDER BY min(place)`,
  )

/** Those of the tenant's documents that are there, in any order. */
const someOf = (db: Db) => (tenantId: string, ids: readonly string[], citedSince: number) =>
  db.all<KbDoc>(
    joined(
      { sql: `SELECT ${COLUMNS}`, args: listedArgs(citedSince) },
      sql`FROM kb_doc WHERE tenant_id = ${tenantId} AND stage = 'live'
        AND id IN (SELECT value ->> 0 FROM json_each(${textRows(ids)}))`,
    ),
  )

/** All documents, or those of a source, with their citations since a day. */
const listOf =
  (reader: ListReader) =>
  async (
    { tenantId, collections }: KbView,
    citedSince: number,
    sourceId: string | null = null,
  ): Promise<JsonItems[]> => {
    const chosen = joined(
      sql`WHERE tenant_id = ${tenantId} AND stage = 'live'`,
      within('collection_id', collections),
      sourceId === null ? sql`` : sql`AND source_id = ${sourceId}`,
    )
    if (reader.isSideBySide) {
      const rows = await reader.all<{ items: string }>(tenantId, allItemsOf(chosen, citedSince))
      return rows.map(({ items }) => new JsonItems(items))
    }
    const [row] = await reader.all<{ nums: string | null }>(
      tenantId,
      joined(
        // SQLite keeps the order of the rows, which takes half the time of an order of its texts.
        sql`SELECT string_agg(CAST(num AS TEXT), ',') AS nums FROM (SELECT num FROM kb_doc`,
        chosen,
        { sql: `${ORDER}) AS doc`, args: [] },
      ),
    )
    const found = row?.nums?.split(',') ?? []
    const docs: JsonItems[] = []
    for (let at = 0; at < found.length; at += LISTED_AT_ONCE) {
      const nums = found.slice(at, at + LISTED_AT_ONCE)
      const statement = itemsOf(tenantId, nums, citedSince)
      const [some] = await reader.all<{ items: string | null }>(tenantId, statement)
      if (some?.items) docs.push(new JsonItems(some.items))
    }
    return docs
  }

/** Documents as people look at them. `reader` reads what grows with their number. */
export function createDocStore(db: Db, reader: ListReader) {
  return {
    list: listOf(reader),
    some: someOf(db),

    /** Null when the view has no such document. */
    doc: ({ tenantId, collections }: KbView, id: string, citedSince: number) =>
      db.get<KbDoc>(
        joined(
          { sql: `SELECT ${COLUMNS}`, args: listedArgs(citedSince) },
          sql`FROM kb_doc WHERE tenant_id = ${tenantId} AND id = ${id} AND stage = 'live'`,
          within('collection_id', collections),
        ),
      ),

    /** The first passage of each page that has one, in order. Empty where pages are not known. */
    pages: ({ tenantId, collections }: KbView, id: string) =>
      db.all<{ page: number; seq: number }>(
        joined(
          sql`SELECT c.page, min(c.seq) AS seq FROM kb_doc d JOIN kb_chunk c ON c.doc_num = d.num
          WHERE d.tenant_id = ${tenantId} AND d.id = ${id} AND d.stage = 'live'
            AND c.page IS NOT NULL`,
          within('d.collection_id', collections),
          sql`GROUP BY c.page ORDER BY c.page`,
        ),
      ),

    async hasCollection(tenantId: string, id: string): Promise<boolean> {
      const row = await db.get(sql`
        SELECT 1 FROM kb_collection WHERE tenant_id = ${tenantId} AND id = ${id} AND gone = 0`)
      return id === NO_COLLECTION || row !== null
    },

    async count(tenantId: string): Promise<number> {
      return (await this.size({ tenantId, collections: null })).docs
    },

    /** Whether the view has a document: each turn asks, and those of many tenants have none. */
    async hasAny({ tenantId, collections }: KbView): Promise<boolean> {
      const any = sql`SELECT 1 FROM kb_doc WHERE tenant_id = ${tenantId} AND stage = 'live'`
      return (
        (await db.get(joined(any, within('collection_id', collections), sql`LIMIT 1`))) !== null
      )
    },

    /** How many documents and passages the view has. */
    async size({ tenantId, collections }: KbView): Promise<{ docs: number; passages: number }> {
      const row = await db.get<{ docs: number; passages: number | null }>(
        joined(
          sql`SELECT count(*) AS docs, sum(chunk_count) AS passages FROM kb_doc
            WHERE tenant_id = ${tenantId} AND stage = 'live'`,
          within('collection_id', collections),
        ),
      )
      return { docs: row?.docs ?? 0, passages: row?.passages ?? 0 }
    },

    /** Null when the tenant has no such document. */
    async chunks(view: KbView, id: string, from: number): Promise<KbChunk[] | null> {
      const doc = await findDoc(db, view, id)
      if (!doc) return null
      const rows = await db.all<Omit<KbChunk, 'ocr'> & { ocr: number }>(sql`
        SELECT seq, text, page, heading, ocr, ${doc.url} AS url FROM kb_chunk
        WHERE doc_num = ${doc.num} AND seq >= ${from}
        ORDER BY seq LIMIT ${KB_CHUNKS_SHOWN_MAX}`)
      return rows.map(({ ocr, ...row }) => ({
        ...row,
        ...(ocr === 1 ? { ocr: true as const } : {}),
      }))
    },

    /** `count` chunks from number `from` on; null when the tenant has no such document. */
    async part(view: KbView, id: string, from: number, count: number): Promise<KbPart | null> {
      const doc = await findDoc(db, view, id)
      if (!doc) return null
      const chunks = await db.all<KbPart['chunks'][number]>(sql`
        SELECT seq, text FROM kb_chunk WHERE doc_num = ${doc.num} AND seq >= ${from}
        ORDER BY seq LIMIT ${count}`)
      const next = (chunks.at(-1)?.seq ?? doc.chunk_count) + 1
      const next_seq = next < doc.chunk_count ? next : null
      return { title: doc.title, url: doc.url, chunks, next_seq }
    },
  }
}
