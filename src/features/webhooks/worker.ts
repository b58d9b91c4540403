import { type Clock, HOUR_MS, MINUTE_MS } from '../../core/clock.ts'
import { DELIVERIES_AT_ONCE_MAX, DELIVERIES_PER_TENANT_MAX } from '../../core/limits/machine.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import type { Meters } from '../../core/meters.ts'
import type { Jobs } from '../../jobs/runner.ts'
import type { DeliveryStore, DueDelivery } from './delivery-store.ts'
import { createOutbox } from './outbox.ts'
import type { Payload, Sender, Sent } from './sender.ts'
import type { StoredWebhook, WebhookStore } from './store.ts'

/** Waits after failed tries; after the last one the delivery fails. */
const RETRY_MS = [10_000, MINUTE_MS, 10 * MINUTE_MS, HOUR_MS] as const
/** A wait is up to this part longer or shorter, so that not all come back at once. */
const JITTER = 0.2
/** A server that dies keeps a delivery for this long. One try ends long before. */
const TAKEN_MS = MINUTE_MS
const HTTP_GONE = 410

export interface WorkerParts {
  readonly store: Pick<WebhookStore, 'list' | 'find'>
  readonly deliveries: DeliveryStore
  readonly sender: Sender
  readonly jobs: Pick<Jobs, 'run'>
  /** Whether no other process sends what is stored here. */
  readonly isAlone: boolean
  /** From 0 to 1. */
  readonly random: () => number
  readonly clock: Clock
  readonly log: Logger
  readonly meters: Pick<Meters, 'webhookDelivered'>
}

/** Sends what webhooks are told. The queue is in the database. */
export function createWebhookWorker(parts: WorkerParts) {
  const { store, deliveries, sender, jobs, isAlone, random, clock, log, meters } = parts
  const running = new Map<string, string>()
  let released: Promise<void> | null = null

  /** Drops what is too much of what was stored for a tenant, and sends the rest. */
  async function stored(tenantId: string): Promise<void> {
    const dropped = await deliveries.trim(tenantId)
    for (let i = 0; i < dropped; i++) meters.webhookDelivered('dropped')
    wake()
  }

  /** When and whether the delivery is tried again. */
  function afterFailure(tries: number, { status, fault, retryAfterMs }: Sent) {
    const wait = RETRY_MS[tries]
    const isFinal = wait === undefined || fault === 'refused' || status === HTTP_GONE
    if (isFinal) return { state: 'failed' as const, waitMs: 0 }
    const jittered = wait * (1 - JITTER + 2 * JITTER * random())
    return {
      state: 'waiting' as const,
      waitMs: Math.round(Math.max(jittered, Math.min(retryAfterMs, HOUR_MS))),
    }
  }

  async function deliver(delivery: DueDelivery, text: string, signal: AbortSignal): Promise<void> {
    const webhook = await store.find(delivery.tenantId, delivery.webhookId)
    if (!webhook) return
    const payload = withoutForeignReply(webhook, JSON.parse(text) as Payload)
    const sent = await sender.send(webhook, delivery.id, payload, signal)
    const now = clock.now()
    const { state, waitMs } =
      sent.fault === null
        ? { state: 'done' as const, waitMs: 0 }
        : afterFailure(delivery.tries, sent)
    const isGone = sent.status === HTTP_GONE
    const end = { state, status: sent.status, dueAt: now + waitMs, now, isGone }
    await deliveries.tried(delivery, end, clock.iso())
    meters.webhookDelivered(state === 'waiting' ? 'retried' : state)
  }

  function start(delivery: DueDelivery): void {
    const { id, tenantId } = delivery
    running.set(id, tenantId)
    jobs.run('deliver a webhook', async (signal) => {
      try {
        const now = clock.now()
        const text = await deliveries.take(delivery, now, now + TAKEN_MS)
        if (text !== null) await deliver(delivery, text, signal)
        running.delete(id)
        wake()
      } catch (error) {
        running.delete(id)
        if (!signal.aborted) log.error('webhook not delivered', errorFields(error))
      }
    })
  }

  async function startDue(): Promise<void> {
    released ??= (isAlone ? deliveries.release() : Promise.resolve()).catch((error) => {
      released = null
      throw error
    })
    await released
    const room = DELIVERIES_AT_ONCE_MAX - running.size
    if (room <= 0) return
    // As many as run may be among them still.
    for (const delivery of await deliveries.due(clock.now(), 8 * DELIVERIES_AT_ONCE_MAX)) {
      if (running.size >= DELIVERIES_AT_ONCE_MAX) return
      const ofTenant = [...running.values()].filter((one) => one === delivery.tenantId).length
      if (!running.has(delivery.id) && ofTenant < DELIVERIES_PER_TENANT_MAX) start(delivery)
    }
  }

  const wake = () => jobs.run('deliver webhooks', startDue)

  const outbox = createOutbox({
    store,
    clock,
    sent: (tenantId) => jobs.run('tell webhooks', () => stored(tenantId)),
  })

  return { outbox, startDue, wake }
}

/**
 * What waited while a person set another address, or replies were turned off, goes without its
 * reply: it was meant for the receiver of then.
 */
function withoutForeignReply(webhook: StoredWebhook, payload: Payload): Payload {
  const { include_reply, userId, replySince } = webhook
  const isSince = userId === null || Date.parse(payload.timestamp) >= (replySince ?? 0)
  if (payload.data.reply === undefined || (include_reply && isSince)) return payload
  const { reply: _, ...data } = payload.data
  return { ...payload, data }
}

export type WebhookWorker = ReturnType<typeof createWebhookWorker>
