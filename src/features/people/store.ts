import {
  type Db,
  expectRows,
  locked,
  type Statement,
  sql,
  storedAsExpected,
  withLock,
} from '../../storage/db.ts'

export interface PersonRow {
  readonly id: string
  readonly email: string
  readonly operator: number
  readonly disabled: number
  readonly created_at: string
  readonly signed_in_at: string | null
}

export interface Membership {
  readonly user_id: string
  readonly tenant_id: string
  readonly name: string | null
  /** Address of the first owner. */
  readonly owner: string | null
  readonly role: string
}

/** A tenant that gets another owner. */
export interface Handover {
  readonly tenantId: string
  /** The id of the new owner's membership, if there is none yet. */
  readonly memberId: string
}

/** True when another operator who may sign in remains. */
const anotherOperator = (id: string): Statement => sql`
  (operator = 0 OR EXISTS (SELECT 1 FROM "user" o
    WHERE o.operator = 1 AND o.disabled = 0 AND o.id <> ${id}))`

/** The people of all tenants; only for operators. */
export function createPeopleStore(db: Db) {
  const guarded = (text: string, id: string): Statement => {
    const guard = anotherOperator(id)
    return withLock(['user', 'operator'], {
      sql: `${text} WHERE id = ? AND ${guard.sql}`,
      args: [id, ...guard.args],
    })
  }
  const changed = async (statement: Statement) => (await db.run(statement)).changes === 1

  return {
    list: () =>
      db.all<PersonRow>(sql`
        SELECT id, email, operator, disabled, created_at, signed_in_at FROM "user"
        ORDER BY created_at, id`),

    find: (id: string) =>
      db.get<PersonRow>(sql`
        SELECT id, email, operator, disabled, created_at, signed_in_at FROM "user"
        WHERE id = ${id}`),

    /** The memberships of all people. */
    memberships: () =>
      db.all<Membership>(sql`
        SELECT m.user_id, m.tenant_id, t.name, m.role,
          (SELECT email FROM member o WHERE o.tenant_id = m.tenant_id AND o.role = 'owner'
            ORDER BY o.invited_at, o.id LIMIT 1) AS owner
        FROM member m JOIN tenant t ON t.id = m.tenant_id
        WHERE m.user_id IS NOT NULL ORDER BY m.joined_at, m.id`),

    /** Ends all sessions. False for the last operator, and when there is no such person. */
    disable: (id: string) =>
      changed(guarded('UPDATE "user" SET disabled = 1, session_epoch = session_epoch + 1', id)),

    enable: (id: string) => changed(sql`UPDATE "user" SET disabled = 0 WHERE id = ${id}`),

    /** Makes a person operator who may sign in. */
    promote: (id: string) =>
      changed(sql`UPDATE "user" SET operator = 1, disabled = 0 WHERE id = ${id}`),

    /** As `disable`. */
    demote: (id: string) => changed(guarded('UPDATE "user" SET operator = 0', id)),

    /** Tenants that only this person owns. */
    async ownedAlone(id: string): Promise<string[]> {
      const rows = await db.all<{ tenant_id: string }>(sql`
        SELECT tenant_id FROM member m WHERE user_id = ${id} AND role = 'owner'
          AND NOT EXISTS (SELECT 1 FROM member o WHERE o.tenant_id = m.tenant_id
            AND o.role = 'owner' AND o.user_id IS NOT NULL AND o.user_id <> ${id})`)
      return rows.map(({ tenant_id }) => tenant_id)
    },

    /** Deletes a person and makes `to` the owner of their tenants. False as `disable`. */
    async remove(id: string, to: string, handovers: readonly Handover[], at: string) {
      const own = handovers.map(
        ({ tenantId, memberId }) => locked('member', tenantId)`
          INSERT INTO member (id, tenant_id, email, role, user_id, invited_at, joined_at)
          SELECT ${memberId}, ${tenantId}, email, 'owner', id, ${at}, ${at} FROM "user"
          WHERE id = ${to}
          ON CONFLICT (tenant_id, email) DO UPDATE SET role = 'owner',
            user_id = excluded.user_id, joined_at = excluded.joined_at`,
      )
      return storedAsExpected(
        db.batch([
          ...own,
          sql`DELETE FROM member WHERE user_id = ${id}`,
          expectRows(1, guarded('DELETE FROM "user"', id)),
        ]),
      )
    },
  }
}

export type PeopleStore = ReturnType<typeof createPeopleStore>
