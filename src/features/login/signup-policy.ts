import type { Tenants } from '../tenants/service.ts'
import type { User } from '../tenants/store.ts'

/** Everyone, nobody new, or the addresses and `@domain`s of a list, in lower case. */
export type SignupPolicy = 'open' | 'closed' | readonly string[]

/**
 * Who may come in by any way of login (contract, MB_SIGNUP): people who are known, and those the
 * policy lets join.
 */
export function createAdmission(tenants: Tenants, policy: SignupPolicy) {
  const mayJoin = (email: string) =>
    typeof policy === 'string'
      ? policy === 'open'
      : policy.includes(email) || policy.includes(email.slice(email.lastIndexOf('@')))

  return {
    async isAllowed(email: string): Promise<boolean> {
      return mayJoin(email) || (await tenants.byEmail(email)) !== null
    },

    /** The person of a proven address, with a tenant of their own from now on; null: not let in. */
    admit: (email: string): Promise<User | null> =>
      mayJoin(email) ? tenants.ensure(email) : tenants.byEmail(email),
  }
}

export type Admission = ReturnType<typeof createAdmission>
