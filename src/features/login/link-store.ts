import type { Clock } from '../../core/clock.ts'
import { randomToken, sha256Hex } from '../../core/crypto.ts'
import { SIGN_IN_LINK_SECONDS_MAX } from '../../core/limits/contract.ts'
import { type Db, sql } from '../../storage/db.ts'

/** Links that sign a person in once; only their hashes are stored. */
export function createLinks(db: Db, clock: Pick<Clock, 'now'>) {
  return {
    /** The token of a new link. */
    async make(userId: string): Promise<string> {
      const token = randomToken(32)
      const until = clock.now() + SIGN_IN_LINK_SECONDS_MAX * 1000
      await db.run(sql`
        INSERT INTO signin_link (hash, user_id, expires_at)
        VALUES (${sha256Hex(token)}, ${userId}, ${until})`)
      return token
    },

    /** Spends a link. The address of its person; null when it is none, spent or too old. */
    async take(token: string): Promise<string | null> {
      const hash = sha256Hex(token)
      const row = await db.get<{ email: string; expires_at: number }>(sql`
        SELECT u.email, l.expires_at FROM signin_link l JOIN "user" u ON u.id = l.user_id
        WHERE l.hash = ${hash}`)
      if (!row || row.expires_at <= clock.now()) return null
      // Of simultaneous callers one deletes it.
      const { changes } = await db.run(sql`DELETE FROM signin_link WHERE hash = ${hash}`)
      return changes === 1 ? row.email : null
    },

    /** Deletes those that have expired. */
    async prune(): Promise<void> {
      await db.run(sql`DELETE FROM signin_link WHERE expires_at <= ${clock.now()}`)
    },
  }
}

export type Links = ReturnType<typeof createLinks>
