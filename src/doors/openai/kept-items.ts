import { type Clock, HOUR_MS } from '../../core/clock.ts'
import { appError } from '../../core/errors.ts'
import { parseUntrustedJson } from '../../core/json.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import type { Principal } from '../../core/principal.ts'
import type { ItemOwner, ItemStore } from './item-store.ts'
import type { Item } from './response-items.ts'
import type { OutputItem } from './response-object.ts'

export interface KeptItemsOptions {
  readonly store: ItemStore
  readonly clock: Pick<Clock, 'now'>
  readonly log: Logger
  /** How long an item is kept after its last use; 0 keeps none. */
  readonly hours: number
}

/** A use is noted when the last noted one is this long ago. */
const USE_NOTED_MS = HOUR_MS

/** Items that no client needs back: the model does not read them. */
const UNREAD = /^(?:fs|rs|ws)_/

/**
 * The items of recent responses. Some clients send the id of an item in place of the item, in every
 * turn after the first.
 */
export function createKeptItems({ store, clock, log, hours }: KeptItemsOptions) {
  const ownerOf = ({ tenantId, keyId }: Principal): ItemOwner | null =>
    keyId === null || hours === 0 ? null : { tenantId, keyId }
  /** Tenants that have added items since the last `trim`. */
  let grown = new Set<string>()

  async function find(owner: ItemOwner, ids: readonly string[]): Promise<Map<string, string>> {
    const at = clock.now()
    const rows = await store.find(owner, at - hours * HOUR_MS, ids)
    const old = rows.filter(({ used_at }) => used_at < at - USE_NOTED_MS)
    if (old.length > 0) {
      const oldIds = old.map(({ id }) => id)
      await store.touch(owner, at, oldIds)
    }
    return new Map(rows.map(({ id, item }) => [id, item]))
  }

  /**
   * Deletes what tenants have beyond their limits. Counting a tenant's items takes milliseconds of
   * the thread that writes for everybody, so it is done for many answers at once.
   */
  async function trim(): Promise<void> {
    const tenants = grown
    grown = new Set()
    for (const tenantId of tenants) await store.trim(tenantId)
  }

  return {
    /** Keeps the items of a response. A failure is logged: the response is sound without them. */
    async keep(principal: Principal, items: readonly OutputItem[]): Promise<void> {
      const owner = ownerOf(principal)
      const kept = items.filter(({ id }) => !UNREAD.test(id))
      if (owner === null || kept.length === 0) return
      const rows = kept.map((item) => ({ id: item.id, item: JSON.stringify(item) }))
      try {
        await store.add(owner, clock.now(), rows)
        grown.add(owner.tenantId)
      } catch (error) {
        log.warn('items of a response not kept', errorFields(error))
      }
    },

    /**
     * Puts the items in the place of the references to them. Throws a 400 that names the reference
     * for one that is not kept.
     */
    async resolve(principal: Principal, items: readonly Item[]): Promise<readonly Item[]> {
      const ids = items.flatMap((item) => (item.type === 'item_reference' ? [item.id] : []))
      const wanted = ids.filter((id) => !UNREAD.test(id))
      if (ids.length === 0) return items
      const owner = ownerOf(principal)
      const found = owner && wanted.length > 0 ? await find(owner, wanted) : new Map()
      return items.map((item, index) => {
        if (item.type !== 'item_reference') return item
        if (UNREAD.test(item.id)) return { type: 'reasoning' }
        const json = found.get(item.id)
        if (json === undefined) {
          throw appError('item_not_kept', {}, { param: `input[${index}].id` })
        }
        return parseUntrustedJson(json) as Item
      })
    },

    trim,

    /** The same, and what was last used long ago. */
    async prune(): Promise<void> {
      await trim()
      const before = clock.now() - hours * HOUR_MS
      while ((await store.prune(before)) > 0);
    },
  }
}

export type KeptItems = ReturnType<typeof createKeptItems>
