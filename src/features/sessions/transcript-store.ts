import { type Db, sql } from '../../storage/db.ts'

/** A turn as it was said, with its details as JSON. */
export interface KeptTurn {
  readonly seq: number
  readonly user_text: string
  readonly reply: string
  readonly created_at: string
  readonly details: string | null
  readonly rating: number | null
}

/** All turns of sessions, including folded ones. */
export function createTranscriptStore(db: Db) {
  return {
    /**
     * Numbers of the turns before `before`, newest first. With an app: only turns that it answered,
     * and only when it answered the session last.
     */
    async numbers(
      tenantId: string,
      id: string,
      { appId, before, limit }: { appId: string | null; before: number; limit: number },
    ): Promise<number[]> {
      const rows = await db.all<{ seq: number }>(sql`
        SELECT t.seq FROM session s
          JOIN turn t ON t.tenant_id = s.tenant_id AND t.session_id = s.id
        WHERE s.tenant_id = ${tenantId} AND s.id = ${id} AND t.seq < ${before}
          AND (CAST(${appId} AS TEXT) IS NULL OR (s.app_id = ${appId} AND t.app_id = ${appId}))
        ORDER BY t.seq DESC LIMIT ${limit}`)
      return rows.map(({ seq }) => seq)
    },

    /** As `numbers`, those after a turn, oldest first. */
    async numbersAfter(
      tenantId: string,
      id: string,
      { appId, after, limit }: { appId: string | null; after: number; limit: number },
    ): Promise<number[]> {
      const rows = await db.all<{ seq: number }>(sql`
        SELECT t.seq FROM session s
          JOIN turn t ON t.tenant_id = s.tenant_id AND t.session_id = s.id
        WHERE s.tenant_id = ${tenantId} AND s.id = ${id} AND t.seq > ${after}
          AND (CAST(${appId} AS TEXT) IS NULL OR (s.app_id = ${appId} AND t.app_id = ${appId}))
        ORDER BY t.seq LIMIT ${limit}`)
      return rows.map(({ seq }) => seq)
    },

    /** With the thumb of this giver. Null when the turn no longer exists. */
    turn: (tenantId: string, id: string, seq: number, giver: string | null) =>
      db.get<KeptTurn>(sql`
        SELECT t.seq, t.user_text, t.reply, t.created_at, t.details, f.rating
        FROM turn t LEFT JOIN feedback f ON f.tenant_id = t.tenant_id
          AND f.session_id = t.session_id AND f.seq = t.seq AND f.giver = ${giver}
        WHERE t.tenant_id = ${tenantId} AND t.session_id = ${id} AND t.seq = ${seq}`),
  }
}

export type TranscriptStore = ReturnType<typeof createTranscriptStore>
