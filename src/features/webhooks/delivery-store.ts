import { DAY_MS } from '../../core/clock.ts'
import {
  WEBHOOK_DELIVERIES_SHOWN,
  WEBHOOK_FAILURES_MAX,
  WEBHOOK_WAITING_MAX,
} from '../../core/limits/contract.ts'
import { DELIVERIES_PER_WEBHOOK_MAX } from '../../core/limits/machine.ts'
import { type Db, joined, locked, type Statement, sql } from '../../storage/db.ts'
import type { Delivery, WebhookEvent } from './model.ts'
import { dropWaiting } from './store.ts'

export interface NewDelivery {
  readonly id: string
  readonly tenantId: string
  readonly webhookId: string
  readonly event: WebhookEvent
  /** What is sent without the reply, and with it. */
  readonly plain: string
  readonly whole: string
  readonly whose: Whose | null
}

/** Whose reply is told: a person's goes only where that person knew that replies go. */
export interface Whose {
  /** Null: a key's. */
  readonly userId: string | null
  /** When the person saved what names the webhook. */
  readonly namedAt: number | null
}

export interface DueDelivery {
  readonly id: string
  readonly tenantId: string
  readonly webhookId: string
  readonly event: WebhookEvent
  readonly tries: number
  readonly dueAt: number
}

/** A webhook that was not tried for this long was at rest: its day of failures begins anew. */
const REST_MS = DAY_MS / 2

/** How one try ended. */
export interface Tried {
  readonly state: Delivery['state']
  readonly status: number | null
  /** Of one that waits again. */
  readonly dueAt: number
  readonly now: number
  /** Whether the receiver wants nothing more. */
  readonly isGone: boolean
}

type DeliveryRow = Omit<Delivery, 'next_at'> & { readonly due_at: number }

/** What waits to be sent, and what was. */
export function createDeliveryStore(db: Db) {
  return {
    async list(tenantId: string, webhookId: string): Promise<Delivery[]> {
      const rows = await db.all<DeliveryRow>(sql`
        SELECT id, event, at, status, tries, state, due_at FROM webhook_delivery
        WHERE tenant_id = ${tenantId} AND webhook_id = ${webhookId}
        ORDER BY id DESC LIMIT ${WEBHOOK_DELIVERIES_SHOWN}`)
      return rows.map(({ due_at, ...row }) => ({
        ...row,
        next_at: row.state === 'waiting' ? new Date(due_at).toISOString() : null,
      }))
    },

    /**
     * Drops those that ended and are not shown any more, and the oldest of too many that wait.
     * Returns how many of the waiting were dropped.
     */
    async trim(tenantId: string): Promise<number> {
      const [, waiting] = await db.batch([dropEnded(tenantId), dropOldest(tenantId)])
      return waiting?.changes ?? 0
    },

    /**
     * Those that are due, few of each webhook, so that none waits for another one's. Tenants take
     * turns: what is being sent counts, so that one with nothing under way comes first. Goes from
     * webhook to webhook by an index and reads no more than it answers.
     */
    due: (now: number, limit: number) =>
      db.all<DueDelivery>(
        joined(
          sql`
          WITH RECURSIVE hook (id) AS (
            SELECT min(webhook_id) FROM webhook_delivery WHERE state = 'waiting'
            UNION ALL
            SELECT (SELECT min(webhook_id) FROM webhook_delivery
              WHERE state = 'waiting' AND webhook_id > hook.id)
            FROM hook WHERE hook.id IS NOT NULL
          ), head (id) AS (`,
          ...heads(now),
          sql`), waiting AS (
            SELECT d.id, d.tenant_id, d.webhook_id, d.event, d.tries, d.due_at, 1 AS is_free
            FROM head JOIN webhook_delivery d ON d.id = head.id
            UNION ALL
            SELECT id, tenant_id, webhook_id, event, tries, due_at, 0
            FROM webhook_delivery WHERE taken_until > ${now}
          ), placed AS (
            SELECT *, row_number() OVER (
              PARTITION BY webhook_id ORDER BY is_free, due_at, id) AS place FROM waiting
          ), ranked AS (
            SELECT *, row_number() OVER (
              PARTITION BY tenant_id ORDER BY is_free, due_at, id) AS turn FROM placed
            WHERE place <= ${DELIVERIES_PER_WEBHOOK_MAX}
          )
          SELECT id, tenant_id AS "tenantId", webhook_id AS "webhookId", event, tries,
            due_at AS "dueAt"
          FROM ranked WHERE is_free = 1 ORDER BY turn, due_at, id LIMIT ${limit}`,
        ),
      ),

    /** Of servers that try at once one gets what is to be sent, until `until`; others null. */
    async take({ id, dueAt }: DueDelivery, now: number, until: number): Promise<string | null> {
      const { changes } = await db.run(sql`
        UPDATE webhook_delivery SET taken_until = ${until}
        WHERE id = ${id} AND state = 'waiting' AND due_at = ${dueAt}
          AND (taken_until IS NULL OR taken_until <= ${now})`)
      if (changes !== 1) return null
      const row = await db.get<{ payload: string }>(sql`
        SELECT payload FROM webhook_delivery WHERE id = ${id} AND state = 'waiting'`)
      return row?.payload ?? null
    },

    /** Gives back what this process took before it died; only where it is alone. */
    async release(): Promise<void> {
      await db.run(sql`
        UPDATE webhook_delivery SET taken_until = NULL WHERE taken_until IS NOT NULL`)
    },

    /** Stores the end of a try, and disables a webhook that only fails. */
    async tried(delivery: DueDelivery, end: Tried, at: string): Promise<void> {
      const { id, tenantId, webhookId } = delivery
      await db.batch([
        sql`UPDATE webhook_delivery SET state = ${end.state}, status = ${end.status},
            tries = tries + 1, due_at = ${end.dueAt}, taken_until = NULL,
            payload = CASE WHEN ${end.state} = 'waiting' THEN payload END
          WHERE id = ${id} AND state = 'waiting'`,
        end.state === 'done' ? succeeded(delivery, end, at) : failedOnce(delivery, end, at),
        dropWaiting(tenantId, webhookId),
      ])
    },
  }
}

export type DeliveryStore = ReturnType<typeof createDeliveryStore>

/**
 * The first free deliveries of each webhook in `hook`. One is asked for at a time: to find several,
 * PostgreSQL would ask of each row of the table whether it is among them.
 */
const heads = (now: number): Statement[] =>
  Array.from({ length: DELIVERIES_PER_WEBHOOK_MAX }, (_, place) =>
    joined(
      place === 0 ? sql`` : sql`UNION ALL`,
      sql`SELECT (SELECT f.id FROM webhook_delivery f
        WHERE f.webhook_id = hook.id AND f.state = 'waiting' AND f.due_at <= ${now}
          AND (f.taken_until IS NULL OR f.taken_until <= ${now})
        ORDER BY f.due_at, f.id LIMIT 1 OFFSET ${place}) FROM hook`,
    ),
  )

/** Queues an event for a webhook that has it and is enabled. */
export function insertingDelivery(one: NewDelivery, now: number, at: string): Statement {
  const { userId: owner = null, namedAt = null } = one.whose ?? {}
  return locked('webhook', one.tenantId)`
    INSERT INTO webhook_delivery (id, tenant_id, webhook_id, event, payload, at, state, due_at)
    SELECT ${one.id}, ${one.tenantId}, id, ${one.event},
      CASE WHEN include_reply = 1 AND (user_id IS NULL OR user_id = ${owner}
          OR CAST(${owner} AS TEXT) IS NULL OR reply_since <= ${namedAt})
        THEN ${one.whole} ELSE ${one.plain} END, ${at}, 'waiting',
      CAST(${now} AS BIGINT)
    FROM webhook WHERE tenant_id = ${one.tenantId} AND id = ${one.webhookId} AND enabled = 1
      AND events LIKE ${`%"${one.event}"%`}`
}

/** The list shows no more of a webhook. */
const dropEnded = (tenantId: string): Statement => locked('webhook', tenantId)`
  DELETE FROM webhook_delivery WHERE tenant_id = ${tenantId} AND id IN (
    SELECT id FROM (
      SELECT id, state, row_number() OVER (PARTITION BY webhook_id ORDER BY id DESC) AS place
      FROM webhook_delivery WHERE tenant_id = ${tenantId}
    ) d WHERE place > ${WEBHOOK_DELIVERIES_SHOWN} AND state <> 'waiting')`

const dropOldest = (tenantId: string): Statement => locked('webhook', tenantId)`
  DELETE FROM webhook_delivery WHERE tenant_id = ${tenantId} AND state = 'waiting'
    AND id <= (SELECT id FROM webhook_delivery
      WHERE tenant_id = ${tenantId} AND state = 'waiting'
      ORDER BY id DESC LIMIT 1 OFFSET ${WEBHOOK_WAITING_MAX})`

const succeeded = ({ tenantId, webhookId }: DueDelivery, { status }: Tried, at: string) =>
  locked('webhook', tenantId)`
    UPDATE webhook SET last_status = ${status}, last_at = ${at}, failures = 0, failing_since = NULL
    WHERE tenant_id = ${tenantId} AND id = ${webhookId}`

function failedOnce({ tenantId, webhookId }: DueDelivery, end: Tried, at: string): Statement {
  const { status, state, now, isGone } = end
  const failed = Number(state === 'failed')
  const rested = new Date(now - REST_MS).toISOString()
  return locked('webhook', tenantId)`
    UPDATE webhook SET last_status = ${status}, last_at = ${at},
      failures = failures + ${failed},
      failing_since = CASE WHEN last_at > ${rested} THEN coalesce(failing_since, ${now})
        ELSE ${now} END,
      enabled = CASE WHEN ${Number(isGone)} = 1
        OR failures + ${failed} >= ${WEBHOOK_FAILURES_MAX}
        OR (last_at > ${rested} AND failing_since <= ${now - DAY_MS}) THEN 0 ELSE enabled END
    WHERE tenant_id = ${tenantId} AND id = ${webhookId}`
}
