import { newId } from '../../../core/crypto.ts'
import { NO_COLLECTION } from '../../../storage/collections.ts'
import { expectRows, locked, type Statement, sql } from '../../../storage/db.ts'
import { keysOf } from './keys.ts'
import type { DocText, Prepare } from './prepare.ts'
import type { KbStore, KbStoreParts } from './store.ts'

export interface PartStoreOptions extends Omit<KbStoreParts, 'reader' | 'scans'> {
  readonly store: KbStore
  readonly prepare: Prepare
}

/** A document as one of the parts of a source, numbered from 1. */
interface NewPart extends DocText {
  readonly part: number
  readonly parts: number
  /** ISO 8601, the same for all parts. */
  readonly createdAt: string
}

/** A new document, with the source that it belongs to. */
interface ArrivingPart {
  readonly num: number
  readonly tenant_id: string
  readonly source_id: string
}

/** The source of a document. */
export interface PartSource {
  readonly tenant_id: string
  readonly id: string
  /** `chat`: a file of a conversation. */
  readonly kind?: string
}

/** Chunks that one transaction removes, in a few ms; writes of turns go between two. */
const REMOVED_AT_ONCE = 16

/**
 * The documents of a source. They are stored one by one as `new`, because one transaction for all
 * would hold the writer for seconds. A short transaction then makes all of them `live` and those
 * that they replace `old`; old ones are removed afterwards, again one by one.
 */
export function createPartStore(options: PartStoreOptions) {
  const { db, vectors, words, store, prepare } = options
  let sweeping: Promise<void> | null = null

  async function removeOld(): Promise<void> {
    // Repeats the condition of the partial index; without it SQLite reads all documents.
    const next = sql`
      SELECT num, chunk_count FROM kb_doc WHERE stage <> 'live' AND stage = 'old' LIMIT 1`
    type Row = { num: number; chunk_count: number }
    for (let doc = await db.get<Row>(next); doc; doc = await db.get<Row>(next)) {
      const keys = keysOf(doc)
      for (let at = 0; at < keys.length; at += REMOVED_AT_ONCE) {
        const some = keys.slice(at, at + REMOVED_AT_ONCE)
        await db.batch([...words.remove(some), ...vectors.remove(some)])
      }
      await db.run(sql`DELETE FROM kb_doc WHERE num = ${doc.num} AND stage = 'old'`)
    }
  }

  return {
    /** Embeds and stores one document as `new`. Rejects as the embedder does. */
    async add(source: PartSource, added: NewPart, signal: AbortSignal) {
      const tenantId = source.tenant_id
      const { charCount, chunks, model } = await prepare(tenantId, added, signal)
      const { title, part, parts } = added
      const doc = {
        id: newId(),
        title,
        source_id: source.id,
        part,
        parts,
        char_count: charCount,
        chunk_count: chunks.length,
        created_at: added.createdAt,
        collection_id: null,
      }
      const scope = source.kind === 'chat' ? source.id : tenantId
      await store.insert({ tenantId, stage: 'new', doc, model, chunks, scope })
    },

    docsMaxOf: store.docsMaxOf,

    /** How many documents the source may have beside the tenant's others. */
    async room(tenantId: string, sourceId: string): Promise<number> {
      const row = await db.get<{ docs: number }>(othersOf(tenantId, sourceId))
      return (await store.docsMaxOf(tenantId)) - (row?.docs ?? 0)
    },

    /**
     * Replaces the live documents by the `count` new ones, which belong to the collection of their
     * source; fails when there is no room.
     */
    publish: (tenantId: string, sourceId: string, count: number): Statement[] => [
      sql`UPDATE kb_doc SET stage = 'old'
        WHERE tenant_id = ${tenantId} AND source_id = ${sourceId} AND stage = 'live'`,
      expectRows(
        count,
        locked('kb_doc', tenantId)`UPDATE kb_doc SET stage = 'live', collection_id = coalesce(
            (SELECT collection_id FROM kb_source
              WHERE tenant_id = ${tenantId} AND id = ${sourceId}),
            ${NO_COLLECTION})
          WHERE tenant_id = ${tenantId} AND source_id = ${sourceId} AND stage = 'new'
            AND (SELECT count(*) FROM kb_doc WHERE tenant_id = ${tenantId} AND stage = 'live'
              AND source_id IS DISTINCT FROM ${sourceId}) + ${count}
              <= coalesce((SELECT CASE WHEN max_docs < ${options.docsMax} THEN max_docs
                ELSE ${options.docsMax} END FROM tenant WHERE id = ${tenantId}),
                ${options.docsMax})`,
      ),
    ],

    /** Makes the `count` new documents those of a file of a conversation. */
    publishFile: (tenantId: string, sourceId: string, count: number): Statement[] => [
      expectRows(
        count,
        sql`UPDATE kb_doc SET stage = 'file'
          WHERE tenant_id = ${tenantId} AND source_id = ${sourceId} AND stage = 'new'`,
      ),
    ],

    /** Hides all documents of a source. */
    retire: (tenantId: string, sourceId: string): Statement =>
      sql`UPDATE kb_doc SET stage = 'old'
        WHERE tenant_id = ${tenantId} AND source_id = ${sourceId}`,

    /**
     * Discards the `new` documents of a source; without `sourceId`, after a crash, those of all.
     */
    async discard(sourceId?: string): Promise<void> {
      await db.run(
        sourceId === undefined
          ? sql`UPDATE kb_doc SET stage = 'old' WHERE stage <> 'live' AND stage = 'new'`
          : sql`UPDATE kb_doc SET stage = 'old' WHERE source_id = ${sourceId} AND stage = 'new'`,
      )
    },

    /** The `new` documents of all sources; `abandon` discards some of them. */
    arriving: () =>
      db.all<ArrivingPart>(sql`
        SELECT num, tenant_id, source_id FROM kb_doc WHERE stage <> 'live' AND stage = 'new'`),

    /** Discards those of `nums` that are still `new`. */
    async abandon(nums: readonly number[]): Promise<void> {
      const wanted = JSON.stringify(nums)
      await db.run(sql`UPDATE kb_doc SET stage = 'old' WHERE stage <> 'live' AND stage = 'new'
        AND num IN (SELECT CAST(CAST(value AS TEXT) AS BIGINT) FROM json_each(${wanted}))`)
    },

    /** Removes the `old` documents of all tenants. */
    sweep(): Promise<void> {
      sweeping ??= removeOld().finally(() => {
        sweeping = null
      })
      return sweeping
    },
  }
}

export type PartStore = ReturnType<typeof createPartStore>

const othersOf = (tenantId: string, sourceId: string): Statement => sql`
  SELECT count(*) AS docs FROM kb_doc
  WHERE tenant_id = ${tenantId} AND stage = 'live' AND source_id IS DISTINCT FROM ${sourceId}`
