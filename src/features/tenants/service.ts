import type { Clock } from '../../core/clock.ts'
import { newId } from '../../core/crypto.ts'
import type { TenantStore, User } from './store.ts'

/** People and their tenants: each e-mail address is one person with one tenant. */
export function createTenants({ store, clock }: { store: TenantStore; clock: Clock }) {
  return {
    /** Null when there is no such person. */
    byId: (userId: string): Promise<User | null> => store.byId(userId),

    /** Null when nobody has signed in with this address. */
    byEmail: (email: string): Promise<User | null> => store.byEmail(email),

    /** The user of an e-mail address, created with a tenant when it is new. */
    ensure(email: string): Promise<User> {
      const ids = { tenant: newId(), user: newId() }
      return store.ensure(email.trim().toLowerCase(), ids, clock.iso())
    },
  }
}

export type Tenants = ReturnType<typeof createTenants>
