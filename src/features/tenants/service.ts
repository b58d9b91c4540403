import type { Clock } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import type { TenantStore, User } from './store.ts'

export function createTenants({ store, clock }: { store: TenantStore; clock: Clock }) {
  return {
    /** The user of an e-mail address (trimmed, lower-cased); the first mention makes the tenant. */
    ensure(email: string): Promise<User> {
      const ids = { tenant: newId(), user: newId() }
      return store.ensure(email.trim().toLowerCase(), ids, clock.iso())
    },
  }
}

export type Tenants = ReturnType<typeof createTenants>
