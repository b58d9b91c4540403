import type { Clock } from '../../core/clock.ts'
import { appError } from '../../core/errors.ts'
import type { PeopleResponse, Person } from './model.ts'
import type { Membership, PeopleStore, PersonRow } from './store.ts'

export interface PeopleOptions {
  readonly store: PeopleStore
  readonly clock: Clock
  readonly nameOf: (tenant: Pick<Membership, 'name' | 'owner'>) => string
  /** Ends open turns and streams that people of the tenant may no longer have. */
  readonly onEnded: (tenantId: string) => Promise<void>
  /** Called when talks of a person were deleted. */
  readonly forgetTalks: () => void
  /** Called when tenants may have lost their last member. */
  readonly onGone: () => void
}

/** The people who can sign in, for the operators. */
export function createPeople(options: PeopleOptions) {
  const { store, clock, nameOf, onEnded, onGone, forgetTalks } = options

  function shown(row: PersonRow, memberships: readonly Membership[]): Person {
    const tenants = memberships.filter(({ user_id }) => user_id === row.id)
    return {
      id: row.id,
      email: row.email,
      operator: row.operator === 1 && row.signed_in_at !== null,
      named: row.operator === 1 && row.signed_in_at === null,
      disabled: row.disabled === 1,
      tenants: tenants.map((one) => ({ id: one.tenant_id, name: nameOf(one), role: one.role })),
      created_at: row.created_at,
      last_sign_in_at: row.signed_in_at,
    }
  }

  async function find(id: string): Promise<PersonRow> {
    const row = await store.find(id)
    if (!row) throw appError('not_found', { what: 'person' })
    return row
  }

  /** Operators cannot disable, demote or delete themselves, so one always remains. */
  function checkOther(id: string, self: string): void {
    if (id === self) throw appError('own_account')
  }

  const tenantsOf = async (id: string) =>
    (await store.memberships()).filter(({ user_id }) => user_id === id)
  const endAll = async (tenants: readonly Membership[]) => {
    for (const { tenant_id } of tenants) await onEnded(tenant_id)
  }

  return {
    async list(): Promise<PeopleResponse> {
      const [rows, memberships] = await Promise.all([store.list(), store.memberships()])
      const byPerson = Map.groupBy(memberships, ({ user_id }) => user_id)
      return { people: rows.map((row) => shown(row, byPerson.get(row.id) ?? [])) }
    },

    /** Ends a person's sessions and open turns at once; tenants and keys stay. */
    async setDisabled(id: string, disabled: boolean, self: string): Promise<Person> {
      await find(id)
      if (disabled) {
        checkOther(id, self)
        if (!(await store.disable(id))) throw appError('last_operator')
      } else await store.enable(id)
      const tenants = await tenantsOf(id)
      await endAll(tenants)
      return shown(await find(id), tenants)
    },

    /**
     * Deletes a person. A tenant that has nobody else goes with them. Throws `sole_owner` while
     * other members would be left without an owner.
     */
    async remove(id: string, self: string): Promise<{ id: string; deleted: true }> {
      await find(id)
      checkOther(id, self)
      const tenants = await tenantsOf(id)
      if (!(await store.remove(id, clock.now()))) {
        if (await store.leavesOthers(id)) throw appError('sole_owner')
        await find(id)
        throw appError('last_operator')
      }
      await endAll(tenants)
      forgetTalks()
      onGone()
      return { id, deleted: true }
    },
  }
}

export type People = ReturnType<typeof createPeople>
