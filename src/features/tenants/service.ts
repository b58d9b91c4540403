import type { Clock } from '../../core/clock.ts'
import { newId } from '../../core/crypto.ts'
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
 * tenants; each session of theirs is in one of them at a time (decisions/057-members.md).
 */
export function createTenants({ store, clock }: TenantParts) {
  /** The person of a session; null when there is none, or one who may not sign in. */
  async function byId(userId: string): Promise<SignedInUser | null> {
    const user = await store.byId(userId)
    if (!user || user.disabled || user.role === null) return null
    return { ...user, role: user.role }
  }

  function ensure(email: string, user = newId()): Promise<User> {
    const ids = { tenant: newId(), user }
    return store.ensure(email.trim().toLowerCase(), ids, clock.iso())
  }

  const admission = createAdmission({ store, clock }, ensure)

  async function signIn(userId: string): Promise<SignedInUser | null> {
    await store.signedIn(userId, clock.iso())
    return byId(userId)
  }

  return {
    byId,

    /**
     * The person of a session in the tenant that the session is in, whose role is null when they
     * are no member of it; null when the session has ended or the person may not sign in.
     */
    async ofSession(userId: string, sessionId: string): Promise<User | null> {
      const user = await store.ofSession(userId, sessionId)
      return user?.disabled === false ? user : null
    },

    /** The person in a tenant of theirs, of which they are an owner if possible. */
    async home(userId: string): Promise<SignedInUser | null> {
      const user = await store.byId(userId)
      if (!user || user.disabled) return null
      if (user.role === null) await admission.settle(user, false)
      return byId(userId)
    },

    /** The address of a person, whatever tenant they are in; empty for an unknown one. */
    emailOf: async (userId: string): Promise<string> => (await store.byId(userId))?.email ?? '',

    /** Null when nobody has signed in with this address. */
    byEmail: (email: string): Promise<User | null> => store.byEmail(email),

    hasOperator: store.hasOperator,

    isInvited: async (email: string): Promise<boolean> => (await store.invitedTo(email)) !== null,

    /** Null for a person who is no member, or may not sign in. */
    roleIn: store.roleIn,

    /** The user of an e-mail address, created with a tenant when it is new. */
    ensure: (email: string) => ensure(email),

    /** The id of a new user with a tenant; null when there is one of this address. */
    async create(email: string): Promise<string | null> {
      const id = newId()
      return (await ensure(email, id)).user_id === id ? id : null
    },

    /** Signs a person in; null for a disabled one. The first person becomes the operator. */
    signIn,

    /**
     * Signs in the person of a verified address; with `mayJoin` a new person gets a tenant of their
     * own. Who has no tenant at all becomes a member of those that have invited them, and begins in
     * the first; everybody else is asked. Null when there is no tenant to be in.
     */
    async admit(email: string, mayJoin: boolean): Promise<SignedInUser | null> {
      const user = await admission.personOf(email, mayJoin)
      if (!user || user.disabled) return null
      if (user.role === null) await admission.settle(user, mayJoin)
      return signIn(user.user_id)
    },

    async tenantsOf(userId: string): Promise<{ id: string; name: string; role: Role }[]> {
      const tenants = await store.tenantsOf(userId, TENANTS_SHOWN_MAX)
      return tenants.map(({ id, role, ...named }) => ({ id, name: nameOf(named), role }))
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
    const known = await store.byEmail(email)
    if (known) return known
    if (mayJoin) return ensure(email)
    const tenant = await store.invitedTo(email)
    if (tenant === null) return null
    await store.insertInvited(email, { tenant, user: newId() }, clock.iso())
    return store.byEmail(email)
  }

  /** Moves a person who is not a member of their tenant to another one of theirs, or a new one. */
  async function settle({ user_id, email }: User, mayJoin: boolean): Promise<void> {
    const tenants = await store.tenantsOf(user_id, TENANTS_SHOWN_MAX)
    const next = tenants.find((tenant) => tenant.role === 'owner') ?? tenants[0]
    if (next) await store.moveTo(next.id, user_id)
    else if (mayJoin) {
      await store.insertTenantOf({ tenant: newId(), user: user_id }, newId(), clock.iso())
    } else {
      const invitedTo = await store.invitedTo(email)
      await store.join(email, clock.iso())
      if (invitedTo !== null) await store.moveTo(invitedTo, user_id)
    }
  }

  return { personOf, settle }
}

/** The given name, else the address of the first owner before its @. */
export const nameOf = ({ name, owner }: Pick<Tenancy, 'name' | 'owner'>): string =>
  name ?? owner?.slice(0, owner.lastIndexOf('@')) ?? ''
