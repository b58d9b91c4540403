import type { Clock } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import type { TenantStore, User } from './store.ts'

/** Who has which tenant: an address is one person, and a person has one tenant. */
export function createTenants({ store, clock }: { store: TenantStore; clock: Clock }) {
  return {
    /** Null when there is no such person, or no longer. */
    byId: (userId: string): Promise<User | null> => store.byId(userId),

    /** Null when nobody ever signed in with this address. */
    byEmail: (email: string): Promise<User | null> => store.byEmail(email),

    /** The user of an e-mail address (trimmed, lower-cased); the first mention makes the tenant. */
    ensure(email: string): Promise<User> {
      const ids = { tenant: newId(), user: newId() }
      return store.ensure(email.trim().toLowerCase(), ids, clock.iso())
    },
  }
}

export type Tenants = ReturnType<typeof createTenants>
