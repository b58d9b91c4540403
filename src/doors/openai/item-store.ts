import { type Db, locked, type Statement, sql, textRows } from '../../storage/db.ts'

/** An item of a response as JSON. */
export interface StoredItem {
  readonly id: string
  readonly item: string
}

/** Whose items: a key sees those of its own responses. */
export interface ItemOwner {
  readonly tenantId: string
  readonly keyId: string
}

export interface ItemLimits {
  /** Items and bytes that a tenant keeps; the oldest go first. */
  readonly items: number
  readonly bytes: number
}

const PRUNED_AT_ONCE = 500

/** Times are milliseconds since 1970. */
export function createItemStore(db: Db, limits: ItemLimits) {
  const insert = ({ tenantId, keyId }: ItemOwner, at: number, { id, item }: StoredItem) => sql`
    INSERT INTO response_item (tenant_id, id, key_id, bytes, used_at, item)
    VALUES (${tenantId}, ${id}, ${keyId}, ${Buffer.byteLength(item)}, ${at}, ${item})`

  const dropOldest = (tenantId: string): Statement => locked('response_item', tenantId)`
    DELETE FROM response_item WHERE tenant_id = ${tenantId} AND id IN (
      SELECT id FROM (
        SELECT id, row_number() OVER newest AS place, sum(bytes) OVER newest AS total
        FROM response_item WHERE tenant_id = ${tenantId}
        WINDOW newest AS (ORDER BY used_at DESC, id DESC)) AS counted
      WHERE place > ${limits.items} OR total > ${limits.bytes})`

  return {
    async add(owner: ItemOwner, at: number, items: readonly StoredItem[]): Promise<void> {
      await db.batch(items.map((item) => insert(owner, at, item)))
    },

    /** Deletes what a tenant has beyond the limits. It looks at all of the tenant's items. */
    async trim(tenantId: string): Promise<void> {
      await db.run(dropOldest(tenantId))
    },

    /** Those of `ids` that were used after `since`. */
    find: ({ tenantId, keyId }: ItemOwner, since: number, ids: readonly string[]) =>
      db.all<StoredItem & { used_at: number }>(sql`
        SELECT id, item, used_at FROM response_item
        WHERE tenant_id = ${tenantId} AND key_id = ${keyId} AND used_at > ${since}
          AND id IN (SELECT value ->> 0 FROM json_each(${textRows(ids)}))`),

    async touch({ tenantId }: ItemOwner, at: number, ids: readonly string[]): Promise<void> {
      await db.run(sql`
        UPDATE response_item SET used_at = ${at} WHERE tenant_id = ${tenantId}
          AND id IN (SELECT value ->> 0 FROM json_each(${textRows(ids)}))`)
    },

    /** Deletes some of the items last used before the time; returns how many. */
    async prune(before: number): Promise<number> {
      // No lock: two servers delete the same old rows.
      const { changes } = await db.run(sql`
        DELETE FROM response_item WHERE (tenant_id, id) IN (
          SELECT tenant_id, id FROM response_item WHERE used_at <= ${before}
          ORDER BY used_at LIMIT ${PRUNED_AT_ONCE})`)
      return changes
    },
  }
}

export type ItemStore = ReturnType<typeof createItemStore>
