import { type Clock, DAY_MS } from '../../core/clock.ts'
import { appError } from '../../core/errors.ts'
import { SIGN_IN_LINK_SECONDS_MAX } from '../../core/limits/contract.ts'
import type { Statement } from '../../storage/db.ts'
import type { PeopleResponse, Person, PersonLink, PersonPutRequest } from './model.ts'
import type { Membership, PeopleStore, PersonRow } from './store.ts'

export interface PeopleOptions {
  readonly store: PeopleStore
  readonly clock: Clock
  readonly nameOf: (tenant: Pick<Membership, 'name' | 'owner'>) => string
  /** Ends open turns and streams that people of the tenant may no longer have. */
  readonly onEnded: (tenantId: string) => Promise<void>
  /** Hides what the person has said; `clear` deletes it once that is stored. */
  readonly talks: {
    readonly removal: (userId: string) => readonly Statement[]
    readonly clear: () => Promise<void>
  }
  /** Called when tenants may have lost their last member. */
  readonly onGone: () => void
  /** The id of a new person with an own tenant; null when there is one of this address. */
  readonly create: (email: string) => Promise<string | null>
  /** Sends a welcome in the background, where there is mail. */
  readonly welcome: (email: string) => void
  readonly endSessions: (id: string) => Promise<void>
  /** The token of a link that signs the person in once. */
  readonly makeLink: (id: string) => Promise<string>
  /** Writes what is counted but not stored. */
  readonly flush: () => Promise<void>
}

/** The people who can sign in, for the operators. */
export function createPeople(options: PeopleOptions) {
  const { store, clock, nameOf, onEnded, onGone, talks } = options
  const { create, welcome, endSessions, makeLink, flush } = options

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
      tokens_today: row.tokens_today,
    }
  }

  const today = () => Math.floor(clock.now() / DAY_MS)

  async function find(id: string): Promise<PersonRow> {
    const row = await store.find(id, today())
    if (!row) throw appError('not_found', { what: 'person' })
    return row
  }

  /** Nobody disables or deletes themselves by mistake. */
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
      await flush()
      const [rows, memberships] = await Promise.all([store.list(today()), store.memberships()])
      const byPerson = Map.groupBy(memberships, ({ user_id }) => user_id)
      return { people: rows.map((row) => shown(row, byPerson.get(row.id) ?? [])) }
    },

    /** Adds a person, who is owner of an own tenant. Throws `name_taken`. */
    async add(email: string, operator: boolean): Promise<Person> {
      const id = await create(email)
      if (id === null) throw appError('name_taken', { name: email })
      if (operator) await store.change(id, { operator })
      welcome(email)
      return shown(await find(id), await tenantsOf(id))
    },

    /** Ends all sessions and open turns of a person; keys stay. */
    async signOut(id: string): Promise<Person> {
      await find(id)
      await endSessions(id)
      const tenants = await tenantsOf(id)
      await endAll(tenants)
      return shown(await find(id), tenants)
    },

    /** A link as `moonbase admin EMAIL --link` makes one; `site` is where it is opened. */
    async link(id: string, site: string): Promise<PersonLink> {
      await find(id)
      const url = `${site}/auth/link/${await makeLink(id)}`
      const expires = clock.now() + SIGN_IN_LINK_SECONDS_MAX * 1000
      return { url, expires_at: new Date(expires).toISOString() }
    },

    /** Disabling ends a person's sessions and open turns at once; tenants and keys stay. */
    async change(id: string, given: PersonPutRequest, self: string): Promise<Person> {
      await find(id)
      if (given.disabled === true) checkOther(id, self)
      if (!(await store.change(id, given))) throw appError('last_operator')
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
      if (!(await store.remove(id, clock.now(), talks.removal(id)))) {
        if (await store.leavesOthers(id)) throw appError('sole_owner')
        await find(id)
        throw appError('last_operator')
      }
      await endAll(tenants)
      onGone()
      await talks.clear()
      return { id, deleted: true }
    },
  }
}

export type People = ReturnType<typeof createPeople>
