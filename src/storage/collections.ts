import { type Statement, sql, textRows } from './db.ts'

/** Ids of collections whose documents are seen, or `NO_COLLECTION`; null: all documents. */
export type Collections = readonly string[] | null

/** Stands for the documents that belong to no collection. */
export const NO_COLLECTION = 'none'

/** The end of a condition: that the column is one of the collections. Empty where all are seen. */
export function within(
  column: 'collection_id' | 'd.collection_id' | 's.collection_id',
  collections: Collections,
): Statement {
  if (collections === null) return sql``
  const { sql: text, args } =
    sql`IN (SELECT seen.value ->> 0 FROM json_each(${textRows(collections)}) seen)`
  return { sql: `AND ${column} ${text}`, args }
}

/** The numbers of the tenant's documents in the collections. */
export const docsWithin = (tenantId: string, collections: readonly string[]): Statement => sql`
  SELECT num FROM kb_doc WHERE tenant_id = ${tenantId} AND stage = 'live'
    AND collection_id IN (SELECT seen.value ->> 0 FROM json_each(${textRows(collections)}) seen)`
