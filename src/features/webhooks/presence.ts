import type { Clock } from '../../core/clock.ts'
import { DEVICE_SILENT_MS } from '../../core/limits/contract.ts'
import type { WebhookEvent } from './model.ts'
import type { Outbox } from './outbox.ts'
import type { EventData } from './sentences.ts'
import type { ToldStore, Untold } from './told-store.ts'

export interface TellingParts {
  readonly store: ToldStore
  readonly outbox: Pick<Outbox, 'telling' | 'sent'>
  readonly clock: Clock
}

/** Tells which devices have come and which have gone silent, and whose tokens are spent. */
export function createPresence({ store, outbox, clock }: TellingParts) {
  const begun = clock.steady()

  /** Notes that a change is told in the transaction that queues it. */
  async function tell(tenantId: string, event: WebhookEvent, data: EventData, untold: Untold) {
    const queued = await outbox.telling(tenantId, event, data, untold.condition)
    await store.store([...queued, untold.noting])
    if (queued.length > 0) outbox.sent(tenantId)
  }

  async function look(isOnline: boolean): Promise<void> {
    const event = isOnline ? 'device.online' : 'device.offline'
    for (const { id, tenantId, name } of await store.changed(isOnline, clock.now())) {
      await tell(tenantId, event, { device_id: id, name }, store.presence(id, isOnline))
    }
  }

  return {
    async look(): Promise<void> {
      await look(true)
      // Devices were silent to a server that did not run.
      if (clock.steady() - begun >= DEVICE_SILENT_MS) await look(false)
    },

    /** A key has used its tokens of a day: told once. */
    async spent(tenantId: string, keyId: string, day: number): Promise<void> {
      const prefix = await store.unspent(tenantId, keyId, day)
      if (prefix === null) return
      const untold = store.spent(tenantId, keyId, day)
      await tell(tenantId, 'budget.spent', { key_id: keyId, prefix }, untold)
    },
  }
}
