import type { Role } from '../../core/principal.ts'
import {
  type Db,
  expectRows,
  locked,
  type Statement,
  sql,
  storedAsExpected,
  withLock,
} from '../../storage/db.ts'

export interface MemberRow {
  readonly id: string
  readonly email: string
  readonly role: Role
  readonly user_id: string | null
  readonly joined_at: string | null
  readonly invited_at: string
  /** Valid keys that the person has made. */
  readonly keys: number
  readonly daily_tokens: number
}

export interface NewMember {
  readonly id: string
  readonly tenantId: string
  readonly email: string
  readonly role: Role
  readonly at: string
  readonly invitedBy: string | null
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
      SELECT id, email, role, user_id, joined_at, invited_at, daily_tokens,
        (SELECT count(*) FROM api_key k WHERE k.tenant_id = member.tenant_id
          AND k.person_id = member.user_id AND k.revoked_at IS NULL) AS keys
      FROM member WHERE tenant_id = ${tenantId} AND id = ${id}`)

  return {
    find,

    /** In the order of their invitations. */
    list: (tenantId: string) =>
      db.all<MemberRow>(sql`
        SELECT m.id, m.email, m.role, m.user_id, m.joined_at, m.invited_at,
          m.daily_tokens, coalesce(k.keys, 0) AS keys
        FROM member m LEFT JOIN (SELECT person_id, count(*) AS keys FROM api_key
            WHERE tenant_id = ${tenantId} AND revoked_at IS NULL GROUP BY person_id) AS k
          ON k.person_id = m.user_id
        WHERE m.tenant_id = ${tenantId} ORDER BY m.invited_at, m.id`),

    /** Whether the address is among the members. */
    async has(tenantId: string, email: string): Promise<boolean> {
      const row = await db.get(sql`
        SELECT 1 AS one FROM member WHERE tenant_id = ${tenantId} AND email = ${email}`)
      return row !== null
    },

    /**
     * Inserts an invitation. False, and nothing is stored, when the tenant has `most` members or
     * has this one already.
     */
    async insert(
      { id, tenantId, email, role, at, invitedBy }: NewMember,
      most: number,
    ): Promise<boolean> {
      const { changes } = await db.run(locked('member', tenantId)`
        INSERT INTO member (id, tenant_id, email, role, invited_at, invited_by)
        SELECT ${id}, ${tenantId}, ${email}, ${role}, ${at}, ${invitedBy}
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
          sql: `UPDATE member SET role = ?, epoch = epoch + 1 WHERE tenant_id = ? AND id = ?
            AND (? = 'owner' OR ${guard.sql})`,
          args: [role, tenantId, id, role, ...guard.args],
        }),
      )
      return changes === 1
    },

    async setDailyTokens(tenantId: string, id: string, tokens: number): Promise<void> {
      await db.run(sql`
        UPDATE member SET daily_tokens = ${tokens} WHERE tenant_id = ${tenantId} AND id = ${id}`)
    },

    /**
     * Removes a member, in one transaction with `also`. False as for `setRole`, with nothing done.
     */
    async remove(tenantId: string, id: string, also: readonly Statement[]) {
      const guard = notLastOwner(tenantId, id)
      const removal = withLock(['member', tenantId], {
        sql: `DELETE FROM member WHERE tenant_id = ? AND id = ? AND ${guard.sql}`,
        args: [tenantId, id, ...guard.args],
      })
      return storedAsExpected(db.batch([expectRows(1, removal), ...also]))
    },
  }
}

export type MemberStore = ReturnType<typeof createMemberStore>
