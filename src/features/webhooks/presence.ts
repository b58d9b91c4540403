import type { Clock } from '../../core/clock.ts'
import { DEVICE_SILENT_MS } from '../../core/limits/contract.ts'
import type { ToldStore } from './delivery-store.ts'
import type { Notify } from './worker.ts'

export interface PresenceParts {
  readonly store: Pick<ToldStore, 'changed' | 'tell'>
  readonly notify: Notify
  readonly clock: Clock
}

/** Tells which devices have come and which have gone silent. */
export function createPresence({ store, notify, clock }: PresenceParts) {
  const begun = clock.steady()

  async function look(isOnline: boolean): Promise<void> {
    for (const { id, tenantId, name } of await store.changed(isOnline, clock.now())) {
      if (!(await store.tell(id, isOnline))) continue
      const event = isOnline ? 'device.online' : 'device.offline'
      notify(tenantId, event, { device_id: id, name })
    }
  }

  return {
    async look(): Promise<void> {
      await look(true)
      // Devices were silent to a server that did not run.
      if (clock.steady() - begun >= DEVICE_SILENT_MS) await look(false)
    },
  }
}
