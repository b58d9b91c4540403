import { personSubject } from '../../core/subject.ts'
import {
  type Db,
  expectRows,
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
  readonly tokens_today: number
}

export interface Membership {
  readonly user_id: string
  readonly tenant_id: string
  readonly name: string | null
  /** Address of the first owner. */
  readonly owner: string | null
  readonly role: string
}

/** Runs the server for sure: somebody who was only named may never sign in. */
const ACTIVE = 'o.operator = 1 AND o.disabled = 0 AND o.signed_in_at IS NOT NULL'

/**
 * True unless the person is the last operator who has signed in and still may; of those who were
 * only named, the last one stays, too, because the next person to sign in would become operator.
 */
const anotherOperator = (id: string): Statement => ({
  sql: `(operator = 0 OR EXISTS (SELECT 1 FROM "user" o WHERE ${ACTIVE} AND o.id <> ?)
    OR ((signed_in_at IS NULL OR disabled = 1) AND EXISTS (SELECT 1 FROM "user" o
      WHERE o.operator = 1 AND o.disabled = 0 AND o.id <> ?)))`,
  args: [id, id],
})

/** Tenants that have this person and no other one; those who are only invited do not count. */
const ownAlone = (id: string): Statement => sql`
  SELECT m.tenant_id FROM member m WHERE m.user_id = ${id} AND NOT EXISTS (
    SELECT 1 FROM member o WHERE o.tenant_id = m.tenant_id AND o.user_id <> m.user_id)`

/** True when somebody would be left in a tenant without an owner. */
const leavesOthers = (id: string): Statement => sql`
  EXISTS (SELECT 1 FROM member m WHERE m.user_id = ${id} AND m.role = 'owner'
    AND EXISTS (SELECT 1 FROM member o
      WHERE o.tenant_id = m.tenant_id AND o.user_id <> m.user_id)
    AND NOT EXISTS (SELECT 1 FROM member o WHERE o.tenant_id = m.tenant_id
      AND o.role = 'owner' AND o.user_id <> m.user_id))`

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
    /** In the order in which they came, with their tokens of `day`. */
    list: (day: number) =>
      db.all<PersonRow>(sql`
        SELECT p.id, p.email, p.operator, p.disabled, p.created_at, p.signed_in_at,
          coalesce(sum(u.input_tokens + u.output_tokens), 0) AS tokens_today
        FROM "user" p LEFT JOIN member m ON m.user_id = p.id
          LEFT JOIN usage_person_day u
            ON u.tenant_id = m.tenant_id AND u.day = ${day} AND u.user_id = p.id
        GROUP BY p.id, p.email, p.operator, p.disabled, p.created_at, p.signed_in_at
        ORDER BY p.created_at, p.id`),

    find: (id: string, day: number) =>
      db.get<PersonRow>(sql`
        SELECT id, email, operator, disabled, created_at, signed_in_at,
          coalesce((SELECT sum(u.input_tokens + u.output_tokens) FROM member m
            JOIN usage_person_day u
              ON u.tenant_id = m.tenant_id AND u.day = ${day} AND u.user_id = m.user_id
            WHERE m.user_id = ${id}), 0) AS tokens_today
        FROM "user" WHERE id = ${id}`),

    /** The memberships of all people. */
    memberships: () =>
      db.all<Membership>(sql`
        SELECT m.user_id, m.tenant_id, t.name, m.role,
          (SELECT email FROM member o WHERE o.tenant_id = m.tenant_id AND o.role = 'owner'
            ORDER BY o.invited_at, o.id LIMIT 1) AS owner
        FROM member m JOIN tenant t ON t.id = m.tenant_id
        WHERE m.user_id IS NOT NULL ORDER BY m.joined_at, m.id`),

    /**
     * Disabling ends all sessions. False for the last operator who would be none any more, and when
     * there is no such person.
     */
    change(
      id: string,
      { disabled, operator }: { disabled?: boolean | undefined; operator?: boolean | undefined },
    ) {
      const parts = [
        ...(disabled === undefined ? [] : [`disabled = ${disabled ? 1 : 0}`]),
        ...(disabled === true ? ['session_epoch = session_epoch + 1'] : []),
        ...(operator === undefined ? [] : [`operator = ${operator ? 1 : 0}`]),
      ]
      if (parts.length === 0) return Promise.resolve(true)
      const text = `UPDATE "user" SET ${parts.join(', ')}`
      if (disabled === true || operator === false) return changed(guarded(text, id))
      return changed({ sql: `${text} WHERE id = ?`, args: [id] })
    },

    /** Makes a person operator who may sign in. */
    promote: (id: string) =>
      changed(sql`UPDATE "user" SET operator = 1, disabled = 0 WHERE id = ${id}`),

    /** Whether somebody would be left in a tenant without an owner. */
    async leavesOthers(id: string): Promise<boolean> {
      const { sql: condition, args } = leavesOthers(id)
      return (await db.get({ sql: `SELECT 1 AS one WHERE ${condition}`, args })) !== null
    },

    /**
     * Deletes a person, with the tenants that have nobody else: their keys end at once, and what
     * they hold is removed later. `also` is done in the same transaction. False, and nothing is
     * done, for the last operator, for a person who would leave others without an owner, and when
     * there is no such person.
     */
    async remove(id: string, now: number, also: readonly Statement[]): Promise<boolean> {
      const alone = ownAlone(id)
      const leaves = leavesOthers(id)
      const gone = 'SELECT id FROM tenant WHERE gone_at IS NOT NULL'
      const person = guarded('DELETE FROM "user"', id)
      const tenants = await db.all<{ tenant_id: string }>(
        sql`SELECT tenant_id FROM member WHERE user_id = ${id}`,
      )
      return storedAsExpected(
        db.batch([
          // No lock: the locks of the third statement hold for the whole batch.
          {
            sql: `UPDATE tenant SET gone_at = ? WHERE id IN (${alone.sql})`,
            args: [now, ...alone.args],
          },
          // No lock: as above.
          {
            sql: `UPDATE api_key SET revoked_at = ? WHERE revoked_at IS NULL
              AND tenant_id IN (${alone.sql})`,
            args: [now, ...alone.args],
          },
          expectRows(1, {
            sql: `${person.sql} AND NOT ${leaves.sql}`,
            args: [...person.args, ...leaves.args],
            // Others must not leave these tenants meanwhile.
            locks: [
              ...(person.locks ?? []),
              ...tenants.map(({ tenant_id }) => ['member', tenant_id] as const),
            ],
          }),
          ...also,
          {
            ...sql`DELETE FROM memory WHERE subject = ${personSubject(id)}`,
            // A turn of the person must not remember meanwhile.
            locks: tenants.map(({ tenant_id }) => ['memory', tenant_id] as const),
          },
          { sql: `DELETE FROM member WHERE tenant_id IN (${gone})`, args: [] },
          { sql: `DELETE FROM share WHERE tenant_id IN (${gone})`, args: [] },
        ]),
      )
    },
  }
}

export type PeopleStore = ReturnType<typeof createPeopleStore>
