import { type Db, expectRows, sql, storedAsExpected } from '../../storage/db.ts'

export interface User {
  readonly user_id: string
  readonly email: string
  readonly tenant_id: string
  /** Runs the server. */
  readonly operator: boolean
  /** May not sign in. */
  readonly disabled: boolean
  /** Sessions that were opened in an earlier epoch have ended. */
  readonly session_epoch: number
}

type Row = Omit<User, 'operator' | 'disabled'> & { operator: number; disabled: number }

const userOf = (row: Row | null): User | null =>
  row && { ...row, operator: row.operator === 1, disabled: row.disabled === 1 }

/** The rows of people and their tenants. */
export function createTenantStore(db: Db) {
  const byEmail = async (email: string) =>
    userOf(
      await db.get<Row>(sql`
        SELECT id AS user_id, email, tenant_id, operator, disabled, session_epoch
        FROM user WHERE email = ${email}`),
    )

  return {
    byEmail,

    /** The person of a session. No other statement leads from a user id to a tenant. */
    byId: async (userId: string) =>
      userOf(
        await db.get<Row>(sql`
          SELECT id AS user_id, email, tenant_id, operator, disabled, session_epoch
          FROM user WHERE id = ${userId}`),
      ),

    /** Notes that a person signed in. The first of all runs the server from then on. */
    async signedIn(userId: string, at: string): Promise<void> {
      await db.run(sql`
        UPDATE user SET signed_in_at = ${at},
          operator = CASE WHEN EXISTS (SELECT 1 FROM user WHERE operator = 1)
            THEN operator ELSE 1 END
        WHERE id = ${userId} AND disabled = 0`)
    },

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
