import type { Clock } from '../../core/clock.ts'
import { DETACHED_ENDED_MS } from '../../core/limits/contract.ts'
import type { Principal } from '../../core/principal.ts'
import { idOfName } from './detached-names.ts'
import type { Produce } from './detached-runs.ts'
import type { DetachedStore } from './detached-store.ts'

interface OnceOptions {
  readonly clock: Pick<Clock, 'now'>
  readonly store: Pick<DetachedStore, 'find'>
  /** What the turn tells from its first event on. */
  readonly read: (principal: Principal, name: string) => Promise<Produce>
}

/**
 * Takes each name once: browsers send a question again by themselves when its connection breaks,
 * and so do people who do not know whether it arrived.
 */
export function createOnce({ clock, store, read }: OnceOptions) {
  /** Those that are being looked up or begun here. */
  const open = new Map<string, Promise<unknown>>()

  async function known(principal: Principal, name: string): Promise<Produce | null> {
    const { tenantId, userId } = principal
    const row = await store.find(tenantId, userId ?? '', name)
    // One that failed long ago has left nothing, so its name is free.
    const isFree =
      row?.stored === 0 && row.state === 'ended' && row.state_at <= clock.now() - DETACHED_ENDED_MS
    return row && !isFree ? read(principal, name) : null
  }

  async function begunOrKnown(
    principal: Principal,
    name: string,
    begin: () => Promise<Produce>,
  ): Promise<Produce> {
    const before = await known(principal, name)
    if (before) return before
    try {
      return await begin()
    } catch (error) {
      // Another server may have begun it meanwhile.
      const meanwhile = await known(principal, name)
      if (meanwhile) return meanwhile
      throw error
    }
  }

  /**
   * Begins the turn, or reads the one that has this name already, whatever was asked in it. Throws
   * `not_found` for one that can no longer be read.
   */
  return async (
    principal: Principal,
    name: string,
    begin: () => Promise<Produce>,
  ): Promise<Produce> => {
    const id = idOfName(principal.tenantId, principal.userId ?? '', name)
    for (let other = open.get(id); other; other = open.get(id)) await other.catch(() => {})
    const work = begunOrKnown(principal, name, begin)
    open.set(id, work)
    try {
      return await work
    } finally {
      open.delete(id)
    }
  }
}
