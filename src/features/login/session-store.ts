import { type Db, locked, type Statement, sql } from '../../storage/db.ts'

/** A session of the console, by the id in its token. */
export interface SessionKey {
  readonly id: string
  /** Epoch milliseconds. */
  readonly expiresAt: number
}

/** What is stored of sessions, and of the rights that a session has given on. */
export function createSessionStore(db: Db) {
  return {
    /** False when the person is not a member of the tenant. */
    async move(session: SessionKey, tenantId: string, userId: string): Promise<boolean> {
      // No lock: a membership that ends at once is asked for again at the next request.
      const { changes } = await db.run(sql`
        INSERT INTO console_session (id, tenant_id, expires_at)
        SELECT ${session.id}, tenant_id, ${session.expiresAt} FROM member
        WHERE tenant_id = ${tenantId} AND user_id = ${userId}
        ON CONFLICT (id) DO UPDATE SET tenant_id = excluded.tenant_id`)
      return changes === 1
    },

    /** Ends all sessions of a person that were opened before. */
    async endAll(userId: string): Promise<void> {
      await db.run(sql`UPDATE "user" SET session_epoch = session_epoch + 1 WHERE id = ${userId}`)
    },

    async end({ id, expiresAt }: SessionKey): Promise<void> {
      await db.run(sql`
        INSERT INTO console_session (id, ended, expires_at) VALUES (${id}, 1, ${expiresAt})
        ON CONFLICT (id) DO UPDATE SET ended = 1`)
    },

    /** Forgets sessions whose tokens have expired. */
    async prune(before: number): Promise<void> {
      await db.run(sql`DELETE FROM console_session WHERE expires_at < ${before}`)
    },

    /**
     * A text that is another one after anything has ended this person's rights as an owner of the
     * tenant, even if they were given back since; null for one who is no owner.
     */
    async ownerMark(tenantId: string, userId: string): Promise<string | null> {
      const row = await db.get<{ mark: string }>(sql`
        SELECT m.id || ' ' || m.epoch || ' ' || u.session_epoch AS mark
        FROM member m JOIN "user" u ON u.id = m.user_id AND u.disabled = 0
        WHERE m.tenant_id = ${tenantId} AND m.user_id = ${userId} AND m.role = 'owner'`)
      return row?.mark ?? null
    },

    /**
     * Changes one row while the mark is still the owner's and none otherwise. The change of the row
     * makes a removal that happens at once wait for the batch.
     */
    holdingMark: (tenantId: string, userId: string, mark: string): Statement => locked(
      'member',
      tenantId,
    )`
      UPDATE member SET epoch = epoch
      WHERE tenant_id = ${tenantId} AND user_id = ${userId} AND role = 'owner'
        AND EXISTS (SELECT 1 FROM "user" u WHERE u.id = user_id AND u.disabled = 0
          AND member.id || ' ' || member.epoch || ' ' || u.session_epoch = ${mark})`,
  }
}

export type SessionStore = ReturnType<typeof createSessionStore>
