import type { Role } from '../../core/principal.ts'
import { type Db, type Statement, sql, type Value } from '../../storage/db.ts'

/** An invitation that its person has not answered. */
export interface InvitationRow {
  readonly id: string
  readonly tenant_id: string
  /** Null when the tenant is named after its first owner. */
  readonly name: string | null
  readonly owner: string | null
  readonly role: Role
  readonly invited_by: string | null
  readonly invited_at: string
}

/** The invitation is for this person, not answered yet, and from a tenant that is still there. */
const openInvitation = (id: string, userId: string): Statement => sql`
  id = ${id} AND user_id IS NULL AND email = (SELECT email FROM "user" WHERE id = ${userId})
  AND EXISTS (SELECT 1 FROM tenant t WHERE t.id = tenant_id AND t.gone_at IS NULL)`

/** The invitations of people, whatever tenant they come from. */
export function createInvitationStore(db: Db) {
  const answered = async (text: string, args: readonly Value[], id: string, userId: string) => {
    const open = openInvitation(id, userId)
    const statement = { sql: `${text} WHERE ${open.sql}`, args: [...args, ...open.args] }
    return (await db.run(statement)).changes === 1
  }

  return {
    /** The open invitations of a person's address, the newest first. */
    list: (userId: string, most: number) =>
      db.all<InvitationRow>(sql`
        SELECT m.id, m.tenant_id, t.name, m.role, m.invited_at,
          (SELECT email FROM member o WHERE o.tenant_id = t.id
            AND o.role = 'owner' ORDER BY o.invited_at, o.id LIMIT 1) AS owner,
          (SELECT email FROM "user" i WHERE i.id = m.invited_by) AS invited_by
        FROM "user" u JOIN member m ON m.email = u.email AND m.user_id IS NULL
        JOIN tenant t ON t.id = m.tenant_id AND t.gone_at IS NULL
        WHERE u.id = ${userId} ORDER BY m.invited_at DESC, m.id LIMIT ${most}`),

    /** False for an invitation that is not this person's, or is answered already. */
    accept: (id: string, userId: string, at: string): Promise<boolean> =>
      answered('UPDATE member SET user_id = ?, joined_at = ?', [userId, at], id, userId),

    /** As `accept`. */
    decline: (id: string, userId: string): Promise<boolean> =>
      answered('DELETE FROM member', [], id, userId),
  }
}

export type InvitationStore = ReturnType<typeof createInvitationStore>
