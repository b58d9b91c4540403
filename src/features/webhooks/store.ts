import type { Principal } from '../../core/principal.ts'
import {
  type Db,
  expectRows,
  joined,
  locked,
  type Statement,
  sql,
  storedAsExpected,
} from '../../storage/db.ts'
import type { Webhook, WebhookEvent, WebhookRequest } from './model.ts'

/** A webhook with its sealed secrets. */
export interface StoredWebhook extends Webhook {
  readonly tenantId: string
  readonly secretSealed: Uint8Array
  readonly formerSealed: Uint8Array | null
  readonly formerUntil: number | null
  /** Who has replies sent to the address, and since when; null: a key. */
  readonly userId: string | null
  readonly replySince: number | null
}

/** Who saves a webhook: a person, or a key. */
export type Saver = Pick<Principal, 'tenantId' | 'userId'>

/** The owner of a sealed secret: a value that is copied to another row does not open there. */
export const secretOwner = ({ tenantId, id }: Pick<StoredWebhook, 'tenantId' | 'id'>) =>
  `${tenantId}/webhook/${id}`

interface Row extends Omit<StoredWebhook, 'events' | 'include_reply' | 'enabled'> {
  readonly events: string
  readonly include_reply: number
  readonly enabled: number
}

const webhookOf = ({ events, include_reply, enabled, ...row }: Row): StoredWebhook => ({
  ...row,
  events: JSON.parse(events) as WebhookEvent[],
  include_reply: include_reply === 1,
  enabled: enabled === 1,
})

const ALL = sql`
  SELECT id, tenant_id AS "tenantId", name, url, events, format, include_reply, enabled,
    secret_tail, last_status, last_at, failures, created_at, secret_sealed AS "secretSealed",
    former_sealed AS "formerSealed", former_until AS "formerUntil",
    user_id AS "userId", reply_since AS "replySince"
  FROM webhook`

/** Ends what waits for a webhook that is disabled. */
export const dropWaiting = (tenantId: string, id: string): Statement => locked('webhook', tenantId)`
  UPDATE webhook_delivery SET state = 'failed', payload = NULL, taken_until = NULL
  WHERE webhook_id = ${id} AND state = 'waiting'
    AND EXISTS (SELECT 1 FROM webhook WHERE id = ${id} AND enabled = 0)`

/** Webhooks by tenant. */
export function createWebhookStore(db: Db) {
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
      return rows.map(webhookOf)
    },

    async find(tenantId: string, id: string): Promise<StoredWebhook | null> {
      const row = await db.get<Row>(joined(ALL, sql`WHERE tenant_id = ${tenantId} AND id = ${id}`))
      return row && webhookOf(row)
    },

    /** False when the tenant has `max` webhooks. */
    async insert(webhook: StoredWebhook, max: number): Promise<boolean> {
      const { tenantId, id, name, url, format } = webhook
      const { changes } = await db.run(locked('webhook', tenantId)`
        INSERT INTO webhook (id, tenant_id, name, url, events, format, include_reply, enabled,
          secret_sealed, secret_tail, created_at, user_id, reply_since)
        SELECT ${id}, ${tenantId}, ${name}, ${url}, ${JSON.stringify(webhook.events)}, ${format},
          CAST(${Number(webhook.include_reply)} AS INTEGER),
          CAST(${Number(webhook.enabled)} AS INTEGER), ${webhook.secretSealed},
          ${webhook.secret_tail}, ${webhook.created_at}, ${webhook.userId},
          CAST(${webhook.replySince} AS BIGINT)
        WHERE (SELECT count(*) FROM webhook WHERE tenant_id = ${tenantId}) < ${max}`)
      return changes === 1
    },

    /**
     * One that is enabled anew begins without failures. Who sends replies to a new address answers
     * for that. False when there is no such webhook.
     */
    replace({ tenantId, userId }: Saver, id: string, asked: WebhookRequest, now: number) {
      const enabled = Number(asked.enabled)
      const replies = Number(asked.include_reply)
      const update = locked('webhook', tenantId)`
        UPDATE webhook SET name = ${asked.name}, url = ${asked.url},
          events = ${JSON.stringify(asked.events)}, format = ${asked.format},
          user_id = CASE WHEN ${replies} = 1 AND (include_reply = 0 OR url <> ${asked.url})
            THEN CAST(${userId} AS TEXT) ELSE user_id END,
          reply_since = CASE WHEN ${replies} = 1 AND (include_reply = 0 OR url <> ${asked.url})
            THEN CAST(${now} AS BIGINT) ELSE reply_since END,
          include_reply = ${replies},
          failures = CASE WHEN enabled = 0 AND ${enabled} = 1 THEN 0 ELSE failures END,
          failing_since = CASE WHEN enabled = 0 AND ${enabled} = 1 THEN NULL
            ELSE failing_since END,
          enabled = ${enabled}
        WHERE tenant_id = ${tenantId} AND id = ${id}`
      return storedAsExpected(db.batch([expectRows(1, update), dropWaiting(tenantId, id)]))
    },

    /** The secret until now goes on signing until `until`. */
    async rotate(
      tenantId: string,
      id: string,
      next: { readonly sealed: Uint8Array; readonly tail: string },
      until: number,
    ): Promise<boolean> {
      const { changes } = await db.run(locked('webhook', tenantId)`
        UPDATE webhook SET former_sealed = secret_sealed, former_until = ${until},
          secret_sealed = ${next.sealed}, secret_tail = ${next.tail}
        WHERE tenant_id = ${tenantId} AND id = ${id}`)
      return changes === 1
    },

    /** Drops what waits, too. False when there is no such webhook: then `also` is not run. */
    remove: (tenantId: string, id: string, also: readonly Statement[]): Promise<boolean> =>
      storedAsExpected(
        db.batch([
          expectRows(1, sql`DELETE FROM webhook WHERE tenant_id = ${tenantId} AND id = ${id}`),
          ...also,
        ]),
      ),
  }
}

export type WebhookStore = ReturnType<typeof createWebhookStore>
