import { type Db, expectRows, sql, storedAsExpected } from '../../storage/db.ts'

export interface User {
  readonly user_id: string
  readonly email: string
  readonly tenant_id: string
}

/** The rows of people and their tenants. */
export function createTenantStore(db: Db) {
  const byEmail = (email: string) =>
    db.get<User>(sql`SELECT id AS user_id, email, tenant_id FROM user WHERE email = ${email}`)

  return {
    byEmail,

    /** The person of a session. No other statement leads from a user id to a tenant. */
    byId: (userId: string) =>
      db.get<User>(sql`SELECT id AS user_id, email, tenant_id FROM user WHERE id = ${userId}`),

    /** The user of an address, created together with a tenant when there is none. */
    async ensure(email: string, ids: { tenant: string; user: string }, at: string): Promise<User> {
      const known = await byEmail(email)
      if (known) return known
      // Of two first logins at once one stores its rows, and both read them.
      const tenant = sql`
        INSERT INTO tenant (id, created_at)
        SELECT ${ids.tenant}, ${at} WHERE NOT EXISTS (SELECT 1 FROM user WHERE email = ${email})`
      const user = sql`
        INSERT INTO user (id, tenant_id, email, created_at)
        VALUES (${ids.user}, ${ids.tenant}, ${email}, ${at})`
      await storedAsExpected(db.batch([expectRows(1, tenant), user]))
      const made = await byEmail(email)
      if (!made) throw new Error('the user could not be created')
      return made
    },
  }
}

export type TenantStore = ReturnType<typeof createTenantStore>
