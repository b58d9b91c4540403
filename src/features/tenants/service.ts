import type { Clock } from '../../core/clock.ts'
import { newId } from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import { TENANTS_SHOWN_MAX } from '../../core/limits/machine.ts'
import type { Role } from '../../core/principal.ts'
import type { Statement } from '../../storage/db.ts'
import type { Tenancy, TenantStore, User } from './store.ts'

interface TenantParts {
  readonly store: TenantStore
  readonly clock: Clock
}

/** A person who is a member of the tenant they are in. */
export interface SignedInUser extends User {
  readonly role: Role
}

/**
 * People and their tenants. Each e-mail address is one person, who is a member of one or more
 * tenants and is in one of them at a time, the same in all browsers (decisions/057-members.md).
 */
export function createTenants({ store, clock }: TenantParts) {
  /** The person of a session; null when there is none, or one who may not sign in. */
  async function byId(userId: string): Promise<SignedInUser | null> {
    const user = await store.byId(userId)
    if (!user || user.disabled || user.role === null) return null
    return { ...user, role: user.role }
  }

  function ensure(email: string): Promise<User> {
    const ids = { tenant: newId(), user: newId() }
    return store.ensure(email.trim().toLowerCase(), ids, clock.iso())
  }

  const admission = createAdmission({ store, clock }, ensure)

  async function signIn(userId: string): Promise<SignedInUser | null> {
    await store.signedIn(userId, clock.iso())
    return byId(userId)
  }

  return {
    byId,

    /** Null when nobody has signed in with this address. */
    byEmail: (email: string): Promise<User | null> => store.byEmail(email),

    isInvited: async (email: string): Promise<boolean> => (await store.invitedTo(email)) !== null,

    /** Null for a person who is no member, or may not sign in. */
    roleIn: store.roleIn,

    /** The user of an e-mail address, created with a tenant when it is new. */
    ensure,

    /** Signs a person in; null for a disabled one. The first person becomes the operator. */
    signIn,

    /**
     * Signs in the person of a verified address. They become a member of every tenant that has
     * invited them; with `mayJoin` a new person gets a tenant of their own. A new person with an
     * invitation begins in the inviting tenant. Null when there is no tenant to be in.
     */
    async admit(email: string, mayJoin: boolean): Promise<SignedInUser | null> {
      const user = await admission.personOf(email, mayJoin)
      if (!user || user.disabled) return null
      await admission.settle(user, mayJoin)
      return signIn(user.user_id)
    },

    async tenantsOf(userId: string): Promise<{ id: string; name: string; role: Role }[]> {
      const tenants = await store.tenantsOf(userId, TENANTS_SHOWN_MAX)
      return tenants.map(({ id, role, ...named }) => ({ id, name: nameOf(named), role }))
    },

    /** Moves the person to this tenant. Throws `not_found` when they are no member. */
    async switchTo(userId: string, tenantId: string): Promise<void> {
      if (await store.moveTo(tenantId, userId)) return
      throw appError('not_found', { what: 'tenant' })
    },

    /** The given name, else the address of the first owner before its @. */
    async nameOf(tenantId: string): Promise<string> {
      const named = await store.nameOf(tenantId)
      return named ? nameOf(named) : ''
    },

    /** The statement that renames the tenant; with null it is named after its first owner. */
    renaming: (tenantId: string, name: string | null): Statement => store.renaming(tenantId, name),
  }
}

export type Tenants = ReturnType<typeof createTenants>

/** Makes the person of a verified address a member of the right tenants. */
function createAdmission({ store, clock }: TenantParts, ensure: (email: string) => Promise<User>) {
  /** The person of a verified address; null without an invitation when `mayJoin` is false. */
  async function personOf(email: string, mayJoin: boolean): Promise<User | null> {
    const invitedTo = await store.invitedTo(email)
    const isNew = (await store.byEmail(email)) === null
    if (isNew && mayJoin) await ensure(email)
    else if (isNew && invitedTo !== null) {
      await store.insertInvited(email, { tenant: invitedTo, user: newId() }, clock.iso())
    }
    if (invitedTo !== null) await store.join(email, clock.iso())
    const user = await store.byEmail(email)
    if (user && isNew && invitedTo !== null) await store.moveTo(invitedTo, user.user_id)
    return user
  }

  /** Moves a person who was removed from their tenant to another one of theirs, or a new one. */
  async function settle({ user_id, role }: User, mayJoin: boolean): Promise<void> {
    if (role !== null) return
    const tenants = await store.tenantsOf(user_id, TENANTS_SHOWN_MAX)
    const next = tenants.find((tenant) => tenant.role === 'owner') ?? tenants[0]
    if (next) await store.moveTo(next.id, user_id)
    else if (mayJoin) {
      await store.insertTenantOf({ tenant: newId(), user: user_id }, newId(), clock.iso())
    }
  }

  return { personOf, settle }
}

/** The given name, else the address of the first owner before its @. */
export const nameOf = ({ name, owner }: Pick<Tenancy, 'name' | 'owner'>): string =>
  name ?? owner?.slice(0, owner.lastIndexOf('@')) ?? ''
