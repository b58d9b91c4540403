import type { Role } from '../../core/principal.ts'
import {
  type Db,
  expectRows,
  locked,
  type Statement,
  sql,
  storedAsExpected,
} from '../../storage/db.ts'

export interface User {
  readonly user_id: string
  readonly email: string
  /** The tenant in which sessions of the person begin, or that a session is in. */
  readonly tenant_id: string
  /** Whether the person runs the server. */
  readonly operator: boolean
  /** Whether the person may not sign in. */
  readonly disabled: boolean
  /** Sessions that were opened in an earlier epoch have ended. */
  readonly session_epoch: number
  /** Whether an operator has closed that tenant; known of sessions only. */
  readonly closed?: boolean
  /** The role in that tenant; null when the person is no longer a member. */
  readonly role: Role | null
}

export interface Tenancy {
  readonly id: string
  /** Null when it is named after its first owner. */
  readonly name: string | null
  readonly owner: string | null
  readonly role: Role
}

type Row = Omit<User, 'operator' | 'disabled' | 'closed'> & {
  operator: number
  disabled: number
  closed?: number
}

const userOf = (row: Row | null): User | null =>
  row && {
    ...row,
    operator: row.operator === 1,
    disabled: row.disabled === 1,
    closed: row.closed === 1,
  }

// No lock: nobody else knows the tenant yet.
const insertMember = (ids: { tenant: string; user: string }, at: string): Statement => sql`
  INSERT INTO member (id, tenant_id, email, role, user_id, invited_at, joined_at)
  SELECT ${ids.user}, ${ids.tenant}, email, 'owner', id, ${at}, ${at} FROM "user"
  WHERE tenant_id = ${ids.tenant}`

/** How the row of a person is found. */
const createPersonReads = (db: Db) => ({
  byEmail: async (email: string) =>
    userOf(
      await db.get<Row>(sql`
        SELECT u.id AS user_id, u.email, u.tenant_id, operator, disabled, session_epoch, m.role
        FROM "user" u LEFT JOIN member m ON m.tenant_id = u.tenant_id AND m.user_id = u.id
        WHERE u.email = ${email}`),
    ),

  byId: async (userId: string) =>
    userOf(
      await db.get<Row>(sql`
        SELECT u.id AS user_id, u.email, u.tenant_id, operator, disabled, session_epoch, m.role
        FROM "user" u LEFT JOIN member m ON m.tenant_id = u.tenant_id AND m.user_id = u.id
        WHERE u.id = ${userId}`),
    ),

  /** The person in the tenant that a session is in; null when the session has ended. */
  ofSession: async (userId: string, sessionId: string) =>
    userOf(
      await db.get<Row>(sql`
        SELECT u.id AS user_id, u.email, coalesce(s.tenant_id, u.tenant_id) AS tenant_id,
          operator, u.disabled, session_epoch, m.role, t.disabled AS closed
        FROM "user" u LEFT JOIN console_session s ON s.id = ${sessionId}
        LEFT JOIN member m ON m.tenant_id = coalesce(s.tenant_id, u.tenant_id)
          AND m.user_id = u.id
        LEFT JOIN tenant t ON t.id = coalesce(s.tenant_id, u.tenant_id)
        WHERE u.id = ${userId} AND coalesce(s.ended, 0) = 0`),
    ),
})

/** The rows of people and their tenants. */
export function createTenantStore(db: Db) {
  const people = createPersonReads(db)

  return {
    ...people,

    /** Null for a person who is no member, or may not sign in. */
    async roleIn(tenantId: string, userId: string): Promise<Role | null> {
      const row = await db.get<{ role: Role }>(sql`
        SELECT m.role FROM member m JOIN "user" u ON u.id = m.user_id AND u.disabled = 0
        WHERE m.tenant_id = ${tenantId} AND m.user_id = ${userId}`)
      return row?.role ?? null
    },

    /** The tenants of a person, the oldest membership first. */
    tenantsOf: (userId: string, most: number) =>
      db.all<Tenancy>(sql`
        SELECT t.id, t.name, m.role, (SELECT email FROM member o WHERE o.tenant_id = t.id
            AND o.role = 'owner' ORDER BY o.invited_at, o.id LIMIT 1) AS owner
        FROM member m JOIN tenant t ON t.id = m.tenant_id
        WHERE m.user_id = ${userId} ORDER BY m.joined_at, m.id LIMIT ${most}`),

    nameOf: (tenantId: string) =>
      db.get<Pick<Tenancy, 'name' | 'owner'>>(sql`
        SELECT name, (SELECT email FROM member WHERE tenant_id = ${tenantId} AND role = 'owner'
          ORDER BY invited_at, id LIMIT 1) AS owner
        FROM tenant WHERE id = ${tenantId}`),

    /** A statement that the settings execute together with their own. */
    renaming: (tenantId: string, name: string | null): Statement => sql`
      UPDATE tenant SET name = ${name} WHERE id = ${tenantId}`,

    /** Sets the tenant in which new sessions begin. False when the person is no member of it. */
    async moveTo(tenantId: string, userId: string): Promise<boolean> {
      const { changes } = await db.run(locked('member', tenantId)`
        UPDATE "user" SET tenant_id = ${tenantId} WHERE id = ${userId} AND EXISTS (
          SELECT 1 FROM member WHERE tenant_id = ${tenantId} AND user_id = ${userId})`)
      return changes === 1
    },

    /** The tenant with the oldest open invitation of this address. */
    async invitedTo(email: string): Promise<string | null> {
      const row = await db.get<{ tenant_id: string }>(sql`
        SELECT tenant_id FROM member WHERE email = ${email} AND user_id IS NULL
          AND tenant_id IN (SELECT id FROM tenant WHERE gone_at IS NULL)
        ORDER BY invited_at, id LIMIT 1`)
      return row?.tenant_id ?? null
    },

    /** Accepts all invitations of a verified address. No lock: it decides nothing by the person. */
    async join(email: string, at: string): Promise<void> {
      await db.run(sql`
        UPDATE member SET joined_at = ${at},
          user_id = (SELECT id FROM "user" WHERE email = ${email})
        WHERE email = ${email} AND user_id IS NULL
          AND EXISTS (SELECT 1 FROM tenant t WHERE t.id = tenant_id AND t.gone_at IS NULL)`)
    },

    /** Inserts an invited person without a tenant of their own. */
    async insertInvited(email: string, ids: { tenant: string; user: string }, at: string) {
      await db.run(sql`
        INSERT INTO "user" (id, tenant_id, email, created_at)
        VALUES (${ids.user}, ${ids.tenant}, ${email}, ${at}) ON CONFLICT (email) DO NOTHING`)
    },

    /** Whether anybody runs the server, or was named to. */
    hasOperator: async (): Promise<boolean> =>
      (await db.get(sql`SELECT 1 AS one FROM "user" WHERE operator = 1 LIMIT 1`)) !== null,

    /** Records a sign-in. The first person to sign in becomes the operator. */
    async signedIn(userId: string, at: string): Promise<void> {
      await db.run(locked('user', 'operator')`
        UPDATE "user" SET signed_in_at = ${at},
          operator = CASE WHEN EXISTS (SELECT 1 FROM "user" WHERE operator = 1)
            THEN operator ELSE 1 END
        WHERE id = ${userId} AND disabled = 0`)
    },

    /** The user of an address, created together with a tenant when there is none. */
    async ensure(email: string, ids: { tenant: string; user: string }, at: string): Promise<User> {
      const known = await people.byEmail(email)
      if (known) return known
      // Of two simultaneous first logins one stores its rows, and both read them.
      const tenant = locked('user', email)`
        INSERT INTO tenant (id, created_at)
        SELECT ${ids.tenant}, ${at} WHERE NOT EXISTS (SELECT 1 FROM "user" WHERE email = ${email})`
      const user = sql`
        INSERT INTO "user" (id, tenant_id, email, created_at)
        VALUES (${ids.user}, ${ids.tenant}, ${email}, ${at})`
      await storedAsExpected(db.batch([expectRows(1, tenant), user, insertMember(ids, at)]))
      const made = await people.byEmail(email)
      if (!made) throw new Error('the user could not be created')
      return made
    },

    /** Creates a tenant of their own for a known person and moves them there. */
    async insertTenantOf(ids: { tenant: string; user: string }, member: string, at: string) {
      await db.batch([
        sql`INSERT INTO tenant (id, created_at) VALUES (${ids.tenant}, ${at})`,
        sql`UPDATE "user" SET tenant_id = ${ids.tenant} WHERE id = ${ids.user}`,
        insertMember({ tenant: ids.tenant, user: member }, at),
      ])
    },
  }
}

export type TenantStore = ReturnType<typeof createTenantStore>
