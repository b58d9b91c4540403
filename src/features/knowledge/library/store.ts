import { within } from '../../../storage/collections.ts'
import { joined, type Reader, type Statement, sql, textRows } from '../../../storage/db.ts'
import type { KbView } from '../collections/access.ts'
import { containing } from './containing.ts'
import type { ChosenItem, LibrarySort, LibraryState } from './model.ts'

/** Which entries are meant. */
export interface LibraryQuery {
  /** Words that the title has. */
  readonly q: string
  /** The whole title, or the address, but for the case of ASCII letters; empty: any. */
  readonly title: string
  readonly url: string
  readonly state: LibraryState | null
}

/** Where entries of a source's documents are looked up as in `list-store.ts`. */
const ofSource = sql`FROM kb_doc d WHERE d.source_id = s.id AND d.tenant_id || '' = s.tenant_id
  AND d.stage || '' = 'live'`

/**
 * The state of a source, or that of its newest version. Few have one: PostgreSQL takes 200 ms to
 * look for those of 10,000 sources one by one.
 */
const stateOf = (tenantId: string) => sql`
  CASE WHEN s.id IN (SELECT replaces FROM kb_source
      WHERE tenant_id = ${tenantId} AND replaces IS NOT NULL)
    THEN (SELECT v.state FROM kb_source v WHERE v.tenant_id = s.tenant_id
      AND v.replaces = s.id ORDER BY v.id DESC LIMIT 1)
    ELSE s.state END`

const WORK = sql`('queued', 'reading', 'embedding')`

/** `fields`: what is read of sources and, in the same order, of documents. */
const entries = (
  { tenantId, collections }: KbView,
  query: LibraryQuery,
  fields: { readonly source: Statement; readonly doc: Statement },
): Statement => {
  const { q, title, url, state } = query
  const isNamed = (column: 's.title' | 'd.title') =>
    joined(
      containing(column, q),
      title === '' ? sql`` : { sql: `AND lower(${column}) = lower(?)`, args: [title] },
    )
  const docs = joined(
    sql`UNION ALL SELECT 'doc' AS kind, d.id, d.title, d.created_at,`,
    fields.doc,
    sql`FROM kb_doc d WHERE d.tenant_id = ${tenantId} AND d.stage = 'live' AND d.source_id IS NULL`,
    within('d.collection_id', collections),
    isNamed('d.title'),
  )
  return joined(
    sql`SELECT 'source' AS kind, s.id, s.title, s.created_at,`,
    fields.source,
    sql`FROM kb_source s WHERE s.tenant_id = ${tenantId} AND s.kind IN ('file', 'url')`,
    within('s.collection_id', collections),
    isNamed('s.title'),
    url === '' ? sql`` : sql`AND s.url = ${url}`,
    state === 'failed' ? joined(sql`AND`, stateOf(tenantId), sql`= 'failed'`) : sql``,
    state === 'work' ? joined(sql`AND`, stateOf(tenantId), sql`IN`, WORK) : sql``,
    // Documents that were typed have no address, and no work is done on them.
    url === '' && state === null ? docs : sql``,
  )
}

const NOTHING = { source: sql`0 AS size`, doc: sql`0` }
const SIZE = {
  source: joined(sql`(SELECT coalesce(sum(d.char_count), 0)`, ofSource, sql`) AS size`),
  doc: sql`d.char_count`,
}

const ORDERS: Readonly<Record<LibrarySort, Statement>> = {
  newest: sql`ORDER BY created_at DESC, id DESC`,
  oldest: sql`ORDER BY created_at, id`,
  title: sql`ORDER BY lower(title), title, id`,
  largest: sql`ORDER BY size DESC, created_at DESC, id DESC`,
}

interface ChosenRow extends Omit<ChosenItem, 'readable'> {
  readonly readable: number
}

export interface LibraryCounts {
  readonly sources: number
  readonly in_work: number
  readonly failed: number
  readonly docs: number
  readonly typed: number
}

/** The knowledge base by entries. All of it is read off the event loop. */
export function createLibraryStore(reader: Reader) {
  return {
    /** The keys of a page of entries. */
    page: (
      view: KbView,
      query: LibraryQuery,
      { sort, limit, offset }: { sort: LibrarySort; limit: number; offset: number },
      signal: AbortSignal,
    ) =>
      reader.all<Pick<ChosenItem, 'kind' | 'id'>>(
        view.tenantId,
        joined(
          sql`SELECT kind, id FROM (`,
          entries(view, query, sort === 'largest' ? SIZE : NOTHING),
          sql`) AS entry`,
          ORDERS[sort],
          sql`LIMIT ${limit} OFFSET ${offset}`,
        ),
        signal,
      ),

    async count(view: KbView, query: LibraryQuery, signal: AbortSignal): Promise<number> {
      const counted = joined(
        sql`SELECT count(*) AS count FROM (`,
        entries(view, query, NOTHING),
        sql`) AS entry`,
      )
      const [row] = await reader.all<{ count: number }>(view.tenantId, counted, signal)
      return row?.count ?? 0
    },

    /** What is in the knowledge base, whatever is looked for. */
    async counts(tenantId: string, signal: AbortSignal): Promise<LibraryCounts> {
      const [row] = await reader.all<LibraryCounts>(
        tenantId,
        joined(
          sql`SELECT coalesce(sum(CASE WHEN kind <> 'version' THEN 1 END), 0) AS sources,
            coalesce(sum(CASE WHEN kind <> 'version' AND state = 'failed' AND id NOT IN (
              SELECT replaces FROM kb_source WHERE tenant_id = ${tenantId} AND replaces IS NOT NULL)
              THEN 1 END), 0) AS failed,
            (SELECT count(*) FROM kb_doc WHERE tenant_id = ${tenantId} AND stage = 'live') AS docs,
            (SELECT count(*) FROM kb_doc WHERE tenant_id = ${tenantId} AND stage = 'live'
              AND source_id IS NULL) AS typed,
            count(DISTINCT CASE WHEN state IN`,
          WORK,
          sql`THEN coalesce(replaces, id) END) AS in_work
          FROM kb_source WHERE tenant_id = ${tenantId} AND kind IN ('file', 'url', 'version')`,
        ),
        signal,
      )
      return row ?? { sources: 0, in_work: 0, failed: 0, docs: 0, typed: 0 }
    },

    /** The entry with the most documents, where one has several. */
    async largest(tenantId: string, signal: AbortSignal) {
      const [row] = await reader.all<{ title: string; parts: number }>(
        tenantId,
        sql`SELECT s.title, d.parts FROM kb_doc d JOIN kb_source s ON s.id = d.source_id
          WHERE d.tenant_id = ${tenantId} AND d.stage = 'live' AND d.parts > 1
          ORDER BY d.parts DESC, s.created_at DESC LIMIT 1`,
        signal,
      )
      return row ?? null
    },

    /** All that the query fits, as they are chosen together. */
    async chosen(view: KbView, query: LibraryQuery): Promise<ChosenItem[]> {
      const source = joined(
        sql`(SELECT count(*)`,
        ofSource,
        sql`) AS parts, (SELECT coalesce(sum(d.char_count), 0)`,
        ofSource,
        sql`) AS char_count, CASE WHEN`,
        stateOf(view.tenantId),
        sql`NOT IN`,
        WORK,
        sql`AND (s.kind = 'url' OR (s.state = 'failed' AND s.spooled_until IS NOT NULL))
          THEN 1 ELSE 0 END AS readable`,
      )
      const rows = await reader.all<ChosenRow & { created_at: string }>(
        view.tenantId,
        joined(
          entries(view, query, { source, doc: sql`1, d.char_count, 0` }),
          sql`ORDER BY created_at DESC, id DESC`,
        ),
      )
      return rows.map(({ created_at: _, readable, ...row }) => ({
        ...row,
        readable: readable === 1,
      }))
    },

    /** How often the documents of these sources were cited since a day; absent: never. */
    async cited(tenantId: string, ids: readonly string[], since: number) {
      const rows = await reader.all<{ id: string; count: number }>(
        tenantId,
        sql`SELECT d.source_id AS id, sum(c.count) AS count
          FROM kb_doc d JOIN kb_citation c ON c.doc_num = d.num
          WHERE d.tenant_id || '' = ${tenantId} AND d.stage || '' = 'live' AND c.day >= ${since}
            AND d.source_id IN (SELECT value ->> 0 FROM json_each(${textRows(ids)}))
          GROUP BY d.source_id`,
      )
      return new Map(rows.map(({ id, count }) => [id, count]))
    },
  }
}

export type LibraryStore = ReturnType<typeof createLibraryStore>
