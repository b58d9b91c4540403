import { type Db, locked, sql, withLock } from '../../storage/db.ts'

export interface ShareRow {
  readonly id: string
  readonly app_id: string
  readonly name: string
  readonly origins: readonly string[]
  readonly daily_turns: number
  readonly turns_today: number
  readonly expires_at: string | null
  readonly created_at: string
}

export interface OpenShare {
  readonly id: string
  readonly tenantId: string
  readonly appId: string
  /** The app's name, which visitors see. */
  readonly appName: string
  readonly origins: readonly string[]
  readonly dailyTurns: number
  /** Tokens a day; 0 is no budget. */
  readonly dailyTokens: number
}

export interface NewShare extends Omit<ShareRow, 'turns_today'> {
  readonly tenantId: string
  readonly hash: string
  /** The key that makes it; null: a person. */
  readonly madeBy: string | null
  /** Tokens that its visitors may use a day; 0 is no budget. */
  readonly dailyTokens: number
}

type Stored = Omit<ShareRow, 'origins'> & { readonly origins: string }

const listOf = (json: string) => JSON.parse(json) as string[]

/** The shares of apps, which hold a hash in place of the token. */
export function createShareStore(db: Db) {
  return {
    /**
     * False, and nothing is stored, when the app has gone or has `most` shares, or its maker was
     * revoked.
     */
    async insert(share: NewShare, most: number): Promise<boolean> {
      const { changes } = await db.run(
        withLock(
          ['api_key', share.tenantId],
          locked('share', share.tenantId)`
        INSERT INTO share (id, tenant_id, app_id, name, hash, origins, daily_turns, daily_tokens,
          expires_at, made_by, created_at)
        SELECT ${share.id}, tenant_id, id, ${share.name}, ${share.hash},
          ${JSON.stringify(share.origins)}, ${share.daily_turns}, ${share.dailyTokens},
          ${share.expires_at}, ${share.madeBy}, ${share.created_at}
        FROM app WHERE tenant_id = ${share.tenantId} AND id = ${share.app_id}
          AND (SELECT count(*) FROM share WHERE app_id = ${share.app_id}) < ${most}
          AND (CAST(${share.madeBy} AS TEXT) IS NULL
            OR EXISTS (SELECT 1 FROM api_key WHERE id = ${share.madeBy} AND revoked_at IS NULL))`,
        ),
      )
      return changes === 1
    },

    /** Newest first, with the turns of `day`. */
    async list(tenantId: string, appId: string, day: number): Promise<ShareRow[]> {
      const rows = await db.all<Stored>(sql`
        SELECT s.id, s.app_id, s.name, s.origins, s.daily_turns, s.expires_at, s.created_at,
          coalesce(d.turns, 0) AS turns_today
        FROM share s LEFT JOIN share_day d ON d.share_id = s.id AND d.day = ${day}
        WHERE s.tenant_id = ${tenantId} AND s.app_id = ${appId}
        ORDER BY s.created_at DESC, s.id DESC`)
      return rows.map((row) => ({ ...row, origins: listOf(row.origins) }))
    },

    /** False when the app of the tenant has no such share. */
    async remove(tenantId: string, appId: string, id: string): Promise<boolean> {
      const { changes } = await db.run(sql`
        DELETE FROM share WHERE tenant_id = ${tenantId} AND app_id = ${appId} AND id = ${id}`)
      return changes === 1
    },

    /** The share of a token if it is valid at `now`, else null. */
    async find(hash: string, now: string): Promise<OpenShare | null> {
      const row = await db.get<{
        id: string
        tenant_id: string
        app_id: string
        app_name: string
        origins: string
        daily_turns: number
        daily_tokens: number
        expires_at: string | null
      }>(sql`
        SELECT s.id, s.tenant_id, s.app_id, a.name AS app_name, s.origins, s.daily_turns,
          s.daily_tokens, s.expires_at
        FROM share s JOIN app a ON a.id = s.app_id AND a.tenant_id = s.tenant_id
        WHERE s.hash = ${hash}`)
      if (!row || (row.expires_at !== null && row.expires_at <= now)) return null
      return {
        id: row.id,
        tenantId: row.tenant_id,
        appId: row.app_id,
        appName: row.app_name,
        origins: listOf(row.origins),
        dailyTurns: row.daily_turns,
        dailyTokens: row.daily_tokens,
      }
    },

    /** Whether a share that was found has not been deleted and has not expired since. */
    async isOpen(tenantId: string, id: string, now: string): Promise<boolean> {
      const row = await db.get<{ expires_at: string | null }>(sql`
        SELECT expires_at FROM share WHERE tenant_id = ${tenantId} AND id = ${id}`)
      return row !== null && (row.expires_at === null || row.expires_at > now)
    },

    /** Counts a turn of the day; false when `most` were counted. */
    async takeTurn(id: string, day: number, most: number): Promise<boolean> {
      // No lock: the row of the day is changed only while its own count allows it.
      const { changes } = await db.run(sql`
        INSERT INTO share_day (share_id, day, turns)
        SELECT id, ${day}, 1 FROM share WHERE id = ${id}
        ON CONFLICT (share_id, day) DO UPDATE SET turns = share_day.turns + 1
          WHERE share_day.turns < ${most}`)
      return changes === 1
    },

    /** Deletes the counts of days before `day`. */
    async prune(day: number): Promise<void> {
      await db.run(sql`DELETE FROM share_day WHERE day < ${day}`)
    },
  }
}

export type ShareStore = ReturnType<typeof createShareStore>
