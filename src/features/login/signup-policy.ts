import type { Tenants } from '../tenants/service.ts'
import type { User } from '../tenants/store.ts'

/** Everyone, nobody new, or the addresses and `@domain`s of a list, in lower case. */
export type SignupRule = 'open' | 'closed' | readonly string[]

/**
 * Who may sign in, by whatever way of login (contract, MB_SIGNUP): people who are known, and those
 * whom the rule lets join.
 */
export function createSignupPolicy(tenants: Tenants, ruleNow: () => SignupRule) {
  function mayJoin(email: string): boolean {
    const rule = ruleNow()
    if (typeof rule === 'string') return rule === 'open'
    return rule.includes(email) || rule.includes(email.slice(email.lastIndexOf('@')))
  }

  return {
    async isAllowed(email: string): Promise<boolean> {
      const known = await tenants.byEmail(email)
      return known ? !known.disabled : mayJoin(email)
    },

    /** Signs in the person of a proven address, made with a tenant when new; null when refused. */
    async admit(email: string): Promise<User | null> {
      const known = await (mayJoin(email) ? tenants.ensure(email) : tenants.byEmail(email))
      return known && tenants.signIn(known.user_id)
    },
  }
}

export type SignupPolicy = ReturnType<typeof createSignupPolicy>
