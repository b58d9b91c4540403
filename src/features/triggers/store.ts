import type { Principal } from '../../core/principal.ts'
import { type Db, joined, locked, type Statement, sql } from '../../storage/db.ts'
import type { Trigger, TriggerRequest } from './model.ts'

export interface StoredTrigger extends Trigger {
  readonly tenantId: string
  /** Who saved it last: a key or a person. */
  readonly keyId: string | null
  readonly userId: string | null
  /** Epoch milliseconds. */
  readonly savedAt: number | null
}

interface Row extends Omit<StoredTrigger, 'webhook_ids' | 'enabled'> {
  readonly webhook_ids: string
  readonly enabled: number
}

const triggerOf = ({ webhook_ids, enabled, ...row }: Row): StoredTrigger => ({
  ...row,
  webhook_ids: JSON.parse(webhook_ids) as string[],
  enabled: enabled === 1,
})

const ALL = sql`
  SELECT id, tenant_id AS "tenantId", name, app_id, text, session, webhook_ids, enabled, last_at,
    count, key_id AS "keyId", user_id AS "userId", created_at,
    saved_at AS "savedAt"
  FROM run_trigger`

/** Triggers by tenant; of the token of one its hash is kept. */
export function createTriggerStore(db: Db) {
  return {
    /** Newest first; those before `before`, an id of the page before. */
    async list(tenantId: string, before: string | null, limit: number) {
      const rows = await db.all<Row>(
        joined(
          ALL,
          sql`WHERE tenant_id = ${tenantId} AND (CAST(${before} AS TEXT) IS NULL OR id < ${before})
            ORDER BY id DESC LIMIT ${limit}`,
        ),
      )
      return rows.map(triggerOf)
    },

    async find(tenantId: string, id: string): Promise<StoredTrigger | null> {
      const row = await db.get<Row>(joined(ALL, sql`WHERE tenant_id = ${tenantId} AND id = ${id}`))
      return row && triggerOf(row)
    },

    /** A hash identifies its tenant. */
    async ofToken(hash: string): Promise<StoredTrigger | null> {
      const row = await db.get<Row>(
        joined(
          ALL,
          sql`WHERE token_hash = ${hash} AND enabled = 1
            AND NOT EXISTS (SELECT 1 FROM tenant t
              WHERE t.id = tenant_id AND (t.gone_at IS NOT NULL OR t.disabled = 1))`,
        ),
      )
      return row && triggerOf(row)
    },

    /** False when the tenant has `max` triggers. */
    async insert(trigger: StoredTrigger, tokenHash: string, max: number): Promise<boolean> {
      const { id, tenantId, name, app_id, text, session, keyId, userId, created_at } = trigger
      const { changes } = await db.run(locked('run_trigger', tenantId)`
        INSERT INTO run_trigger (id, tenant_id, name, app_id, text, session, webhook_ids, enabled,
          token_hash, key_id, user_id, created_at, saved_at)
        SELECT ${id}, ${tenantId}, ${name}, ${app_id}, ${text}, ${session},
          ${JSON.stringify(trigger.webhook_ids)}, CAST(${Number(trigger.enabled)} AS INTEGER),
          ${tokenHash}, ${keyId}, ${userId}, ${created_at},
          CAST(${trigger.savedAt} AS BIGINT)
        WHERE (SELECT count(*) FROM run_trigger WHERE tenant_id = ${tenantId}) < ${max}`)
      return changes === 1
    },

    /** From now on it is of whoever replaces it. */
    async replace(
      { tenantId, keyId, userId }: Pick<Principal, 'tenantId' | 'keyId' | 'userId'>,
      id: string,
      asked: TriggerRequest,
      savedAt: number,
    ): Promise<boolean> {
      const { changes } = await db.run(sql`
        UPDATE run_trigger SET name = ${asked.name}, app_id = ${asked.app_id}, text = ${asked.text},
          session = ${asked.session}, webhook_ids = ${JSON.stringify(asked.webhook_ids)},
          enabled = ${Number(asked.enabled)}, key_id = ${keyId}, user_id = ${userId},
          saved_at = ${savedAt}
        WHERE tenant_id = ${tenantId} AND id = ${id}`)
      return changes === 1
    },

    async called(id: string, at: string): Promise<void> {
      await db.run(locked('run_trigger', id)`
        UPDATE run_trigger SET count = count + 1, last_at = ${at} WHERE id = ${id}`)
    },

    async remove(tenantId: string, id: string): Promise<boolean> {
      const { changes } = await db.run(
        sql`DELETE FROM run_trigger WHERE tenant_id = ${tenantId} AND id = ${id}`,
      )
      return changes === 1
    },
  }
}

export type TriggerStore = ReturnType<typeof createTriggerStore>

/** Takes a webhook from all that name it; of the transaction that deletes it. */
export const dropWebhookOfTriggers = (tenantId: string, id: string): Statement =>
  sql`UPDATE run_trigger SET webhook_ids = replace(replace(replace(webhook_ids,
      ${`"${id}",`}, ''), ${`,"${id}"`}, ''), ${`"${id}"`}, '')
    WHERE tenant_id = ${tenantId} AND webhook_ids LIKE ${`%"${id}"%`}`
