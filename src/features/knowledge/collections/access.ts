import { appError } from '../../../core/errors.ts'
import type { Principal } from '../../../core/principal.ts'
import { type Collections, NO_COLLECTION } from '../../../storage/collections.ts'
import type { CollectionStore } from './store.ts'

/** Which documents somebody sees: those of a tenant, or of some of its collections. */
export interface KbView {
  readonly tenantId: string
  readonly collections: Collections
}

export const everything = (tenantId: string): KbView => ({ tenantId, collections: null })

type Asking = Pick<Principal, 'kind' | 'tenantId' | 'appId'>

/** The same for a collection that is unknown, deleted, another tenant's, or behind the wall. */
export const missingCollection = () => appError('not_found', { what: 'collection' })

/**
 * What keys and people see, and where they may write. General keys and people manage, so they see
 * all; the keys of an app and of its devices see what the app sees.
 */
export function createAccess(store: Pick<CollectionStore, 'living' | 'named' | 'ofAssistant'>) {
  async function viewOf({ kind, tenantId, appId }: Asking): Promise<KbView> {
    if (kind === 'general' || kind === 'session') return everything(tenantId)
    return { tenantId, collections: await store.ofAssistant(tenantId, appId) }
  }

  /** Throws 404 for an entry that is not there, or that the view does not have. */
  async function check({ tenantId, collections }: KbView, entries: readonly string[]) {
    if (entries.length === 0) return
    const living = await store.living(tenantId, entries)
    for (const entry of entries) {
      const isSeen = collections === null || collections.includes(entry)
      if (!isSeen || !(entry === NO_COLLECTION || living.has(entry))) throw missingCollection()
    }
  }

  /** The view, narrowed to the entries where there are any. Throws 404 as `check`. */
  async function narrow(view: KbView, entries: Collections | undefined): Promise<KbView> {
    if (entries === null || entries === undefined) return view
    await check(view, entries)
    return { ...view, collections: entries }
  }

  /** The collection of an app's key that names none. */
  async function ownOf({ tenantId, collections }: KbView): Promise<string> {
    if (collections === null) return NO_COLLECTION
    const [only, ...more] = collections
    if (only === undefined || more.length > 0) throw appError('collection_required')
    const isLiving = only === NO_COLLECTION || (await store.living(tenantId, [only])).has(only)
    if (!isLiving) throw appError('collection_required')
    return only
  }

  return {
    viewOf,
    narrow,

    /** What the turns of an assistant see. */
    ofAssistant: store.ofAssistant,

    /**
     * Where something new goes. An app's key writes into its list; the one entry of it is meant
     * where none is given. Throws 404 and `collection_required`.
     */
    async target(asking: Asking, given: string | null | undefined): Promise<string> {
      const view = await viewOf(asking)
      if (given === null || given === undefined) {
        return asking.kind === 'app' ? ownOf(view) : NO_COLLECTION
      }
      await check(view, [given])
      return given
    },

    /** Where something is moved to; null: it stays. Throws 404. */
    async destination(asking: Asking, given: string | null | undefined): Promise<string | null> {
      if (given === undefined || (given === null && asking.kind === 'app')) return null
      if (given === null) return NO_COLLECTION
      await check(await viewOf(asking), [given])
      return given
    },

    /** The view of one collection, by its id or its name. Throws 404 as for an unknown one. */
    async named(view: KbView, nameOrId: string | undefined): Promise<KbView> {
      if (nameOrId === undefined) return view
      const { tenantId } = view
      const isId = nameOrId === NO_COLLECTION || (await store.living(tenantId, [nameOrId])).size > 0
      const id = isId ? nameOrId : await store.named(tenantId, nameOrId)
      if (id === null) throw missingCollection()
      return narrow(view, [id])
    },
  }
}

export type Access = ReturnType<typeof createAccess>
