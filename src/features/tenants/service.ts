import type { Clock } from '../../core/clock.ts'
import { newId } from '../../core/crypto.ts'
import type { TenantStore, User } from './store.ts'

/** People and their tenants: each e-mail address is one person with one tenant. */
export function createTenants({ store, clock }: { store: TenantStore; clock: Clock }) {
  /** The person of a session; null when there is none, or one who may not sign in. */
  async function byId(userId: string): Promise<User | null> {
    const user = await store.byId(userId)
    return user?.disabled ? null : user
  }

  return {
    byId,

    /** Null when nobody has signed in with this address. */
    byEmail: (email: string): Promise<User | null> => store.byEmail(email),

    /** The user of an e-mail address, created with a tenant when it is new. */
    ensure(email: string): Promise<User> {
      const ids = { tenant: newId(), user: newId() }
      return store.ensure(email.trim().toLowerCase(), ids, clock.iso())
    },

    /** Signs a person in; null for one who may not. Who is first runs the server from then on. */
    async signIn(userId: string): Promise<User | null> {
      await store.signedIn(userId, clock.iso())
      return byId(userId)
    },
  }
}

export type Tenants = ReturnType<typeof createTenants>
