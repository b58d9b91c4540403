import type { SignedInUser, Tenants } from '../tenants/service.ts'

/** Everyone, nobody new, or the addresses and `@domain`s of a list, in lower case. */
export type SignupRule = 'open' | 'closed' | readonly string[]

/**
 * Who may sign in, for all ways of login: known people, those whom a tenant has invited, and those
 * whom the rule lets join. Only the last get a tenant of their own.
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
      if (known) return !known.disabled
      return mayJoin(email) || (await tenants.isInvited(email))
    },

    /** Signs in the person of a verified address; null when refused. */
    admit: (email: string): Promise<SignedInUser | null> => tenants.admit(email, mayJoin(email)),
  }
}

export type SignupPolicy = ReturnType<typeof createSignupPolicy>
