import type { Clock } from '../../core/clock.ts'
import { newId } from '../../core/crypto.ts'
import { WEBHOOK_REPLY_CHARS_MAX, WEBHOOKS_MAX } from '../../core/limits/contract.ts'
import { firstChars } from '../../core/text.ts'
import { joined, type Statement, sql, withLock } from '../../storage/db.ts'
import { insertingDelivery, type Whose } from './delivery-store.ts'
import type { WebhookEvent } from './model.ts'
import type { Payload } from './sender.ts'
import type { EventData } from './sentences.ts'
import type { WebhookStore } from './store.ts'

export interface OutboxParts {
  readonly store: Pick<WebhookStore, 'list'>
  readonly clock: Pick<Clock, 'now' | 'iso'>
  /** Sends what was queued. */
  readonly sent: (tenantId: string) => void
}

/**
 * Queues what webhooks are told in the transaction of the change itself: a server that dies
 * between the two would change and not tell.
 */
export function createOutbox({ store, clock, sent }: OutboxParts) {
  const payloadOf = (type: WebhookEvent, data: EventData): string => {
    const payload: Payload = { type, timestamp: clock.iso(), data }
    return JSON.stringify(payload)
  }

  /** Two texts, because only the row of the webhook says whether it is told the reply. */
  function queueing(
    tenantId: string,
    webhookId: string,
    event: WebhookEvent,
    { reply, ...data }: EventData,
    whose: Whose | null,
  ): Statement {
    const plain = payloadOf(event, data)
    const told = typeof reply === 'string' ? firstChars(reply, WEBHOOK_REPLY_CHARS_MAX) : null
    const whole = told === null ? plain : payloadOf(event, { ...data, reply: told })
    const queued = { id: newId(), tenantId, webhookId, event, plain, whole, whose }
    return insertingDelivery(queued, clock.now(), clock.iso())
  }

  return {
    /** Tells those of these webhooks that have the event. */
    naming: (
      tenantId: string,
      event: WebhookEvent,
      webhookIds: readonly string[],
      { data, whose }: { readonly data: EventData; readonly whose: Whose },
    ): Statement[] => webhookIds.map((id) => queueing(tenantId, id, event, data, whose)),

    /** Tells all webhooks that have the event, where `onlyIf`, a condition, holds. */
    async telling(
      tenantId: string,
      event: WebhookEvent,
      data: EventData,
      onlyIf: Statement,
    ): Promise<Statement[]> {
      const webhooks = await store.list(tenantId, null, WEBHOOKS_MAX)
      return webhooks
        .filter(({ enabled, events }) => enabled && events.includes(event))
        .map(({ id }) =>
          withLock(
            ['webhook', tenantId],
            joined(queueing(tenantId, id, event, data, null), sql`AND`, onlyIf),
          ),
        )
    },

    /** To be called once the transaction is stored. */
    sent,
  }
}

export type Outbox = ReturnType<typeof createOutbox>
