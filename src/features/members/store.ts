import type { Role } from '../../core/principal.ts'
import { type Db, locked, type Statement, sql, withLock } from '../../storage/db.ts'

export interface MemberRow {
  readonly id: string
  readonly email: string
  readonly role: Role
  readonly user_id: string | null
  readonly joined_at: string | null
  readonly invited_at: string
}

export interface NewMember {
  readonly id: string
  readonly tenantId: string
  readonly email: string
  readonly role: Role
  readonly at: string
}

/**
 * True unless the row is the last owner of its tenant who has signed in. An invited owner does not
 * count, because they may never sign in.
 */
const notLastOwner = (tenantId: string, id: string): Statement => sql`
  (role <> 'owner' OR user_id IS NULL OR EXISTS (SELECT 1 FROM member o
    WHERE o.tenant_id = ${tenantId} AND o.role = 'owner' AND o.user_id IS NOT NULL
      AND o.id <> ${id}))`

/** The members of tenants. */
export function createMemberStore(db: Db) {
  const find = (tenantId: string, id: string) =>
    db.get<MemberRow>(sql`
      SELECT id, email, role, user_id, joined_at, invited_at FROM member
      WHERE tenant_id = ${tenantId} AND id = ${id}`)

  return {
    find,

    /** In the order of their invitations. */
    list: (tenantId: string) =>
      db.all<MemberRow>(sql`
        SELECT id, email, role, user_id, joined_at, invited_at FROM member
        WHERE tenant_id = ${tenantId} ORDER BY invited_at, id`),

    /** Whether the address is among the members. */
    async has(tenantId: string, email: string): Promise<boolean> {
      const row = await db.get(sql`
        SELECT 1 AS one FROM member WHERE tenant_id = ${tenantId} AND email = ${email}`)
      return row !== null
    },

    /**
     * Inserts a member; a person who has signed in before is a member at once. False, and nothing
     * is stored, when the tenant has `most` members or has this one already.
     */
    async insert({ id, tenantId, email, role, at }: NewMember, most: number): Promise<boolean> {
      const { changes } = await db.run(locked('member', tenantId)`
        INSERT INTO member (id, tenant_id, email, role, user_id, invited_at, joined_at)
        SELECT ${id}, ${tenantId}, ${email}, ${role}, u.id, ${at},
          CASE WHEN u.id IS NULL THEN NULL ELSE ${at} END
        FROM (SELECT 1 AS one) AS it LEFT JOIN "user" u ON u.email = ${email}
        WHERE (SELECT count(*) FROM member WHERE tenant_id = ${tenantId}) < ${most}
          AND NOT EXISTS (SELECT 1 FROM member
            WHERE tenant_id = ${tenantId} AND email = ${email})`)
      return changes === 1
    },

    /** False for the last owner, and for an id that the tenant does not have. */
    async setRole(tenantId: string, id: string, role: Role): Promise<boolean> {
      const guard = notLastOwner(tenantId, id)
      const { changes } = await db.run(
        withLock(['member', tenantId], {
          sql: `UPDATE member SET role = ? WHERE tenant_id = ? AND id = ?
            AND (? = 'owner' OR ${guard.sql})`,
          args: [role, tenantId, id, role, ...guard.args],
        }),
      )
      return changes === 1
    },

    /** As `setRole`. */
    async remove(tenantId: string, id: string): Promise<boolean> {
      const guard = notLastOwner(tenantId, id)
      const { changes } = await db.run(
        withLock(['member', tenantId], {
          sql: `DELETE FROM member WHERE tenant_id = ? AND id = ? AND ${guard.sql}`,
          args: [tenantId, id, ...guard.args],
        }),
      )
      return changes === 1
    },
  }
}

export type MemberStore = ReturnType<typeof createMemberStore>
