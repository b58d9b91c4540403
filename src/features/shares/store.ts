import { type Db, locked, sql, withLock } from '../../storage/db.ts'
import { createShareDays } from './day-store.ts'
import type { ShareChange, ShareLook } from './model.ts'

export interface ShareRow {
  readonly id: string
  readonly app_id: string
  readonly name: string
  readonly origins: readonly string[]
  readonly daily_turns: number
  /** Tokens that its visitors may use a day; 0 is no budget. */
  readonly daily_tokens: number
  readonly turns_today: number
  readonly expires_at: string | null
  readonly paused: boolean
  /** Parts that are missing have their defaults. */
  readonly look: Partial<ShareLook>
  readonly created_at: string
  readonly sealed: Uint8Array | null
}

export interface OpenShare {
  readonly id: string
  /** Of the token by which it was found. */
  readonly hash: string
  readonly tenantId: string
  readonly appId: string
  /** The app's name, which visitors see. */
  readonly appName: string
  readonly icon: string | null
  readonly greeting: string | null
  readonly starters: readonly string[]
  readonly look: Partial<ShareLook>
  readonly paused: boolean
  readonly origins: readonly string[]
  readonly dailyTurns: number
  /** Tokens a day; 0 is no budget. */
  readonly dailyTokens: number
}

export interface NewShare
  extends Omit<ShareRow, 'daily_tokens' | 'turns_today' | 'paused' | 'look'> {
  readonly tenantId: string
  readonly hash: string
  /** The key that makes it; null: a person. */
  readonly madeBy: string | null
  /** Tokens that its visitors may use a day; 0 is no budget. */
  readonly dailyTokens: number
}

type Stored = Omit<ShareRow, 'origins' | 'paused' | 'look'> & {
  readonly origins: string
  readonly paused: number
  readonly look: string
}

const listOf = (json: string) => JSON.parse(json) as string[]
const lookOf = (json: string) => JSON.parse(json) as Partial<ShareLook>
const jsonOrNull = (value: unknown) => (value === undefined ? null : JSON.stringify(value))
const rowOf = ({ origins, paused, look, ...row }: Stored): ShareRow => ({
  ...row,
  origins: listOf(origins),
  paused: paused === 1,
  look: lookOf(look),
})

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
          expires_at, made_by, created_at, token_sealed)
        SELECT ${share.id}, tenant_id, id, ${share.name}, ${share.hash},
          ${JSON.stringify(share.origins)}, ${share.daily_turns}, ${share.dailyTokens},
          ${share.expires_at}, ${share.madeBy}, ${share.created_at}, ${share.sealed}
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
        SELECT s.id, s.app_id, s.name, s.origins, s.daily_turns, s.daily_tokens,
          s.expires_at, s.paused, s.look, s.created_at, s.token_sealed AS sealed,
          coalesce(d.turns, 0) AS turns_today
        FROM share s LEFT JOIN share_day d ON d.share_id = s.id AND d.day = ${day}
        WHERE s.tenant_id = ${tenantId} AND s.app_id = ${appId}
        ORDER BY s.created_at DESC, s.id DESC`)
      return rows.map(rowOf)
    },

    /** One of them; null when the app of the tenant has no such share. */
    async one(tenantId: string, appId: string, id: string, day: number): Promise<ShareRow | null> {
      const row = await db.get<Stored>(sql`
        SELECT s.id, s.app_id, s.name, s.origins, s.daily_turns, s.daily_tokens,
          s.expires_at, s.paused, s.look, s.created_at, s.token_sealed AS sealed,
          coalesce(d.turns, 0) AS turns_today
        FROM share s LEFT JOIN share_day d ON d.share_id = s.id AND d.day = ${day}
        WHERE s.tenant_id = ${tenantId} AND s.app_id = ${appId} AND s.id = ${id}`)
      return row && rowOf(row)
    },

    /** Changes what is given, in one statement; false when there is no such share. */
    async change(tenantId: string, appId: string, id: string, to: ShareChange): Promise<boolean> {
      const { name = null, origins, daily_turns = null, expires_at, paused, look } = to
      const { changes } = await db.run(sql`
        UPDATE share SET name = coalesce(${name}, name),
          origins = coalesce(${jsonOrNull(origins)}, origins),
          daily_turns = coalesce(${daily_turns}, daily_turns),
          expires_at = CASE WHEN ${expires_at === undefined ? 'keep' : 'set'} = 'keep'
            THEN expires_at ELSE ${expires_at ?? null} END,
          paused = coalesce(${paused === undefined ? null : Number(paused)}, paused),
          look = coalesce(${jsonOrNull(look)}, look)
        WHERE tenant_id = ${tenantId} AND app_id = ${appId} AND id = ${id}`)
      return changes === 1
    },

    /** Gives it another token; false when there is no such share. */
    async rotate(
      tenantId: string,
      appId: string,
      id: string,
      { hash, sealed }: Pick<NewShare, 'hash' | 'sealed'>,
    ): Promise<boolean> {
      const { changes } = await db.run(sql`
        UPDATE share SET hash = ${hash}, token_sealed = ${sealed}
        WHERE tenant_id = ${tenantId} AND app_id = ${appId} AND id = ${id}`)
      return changes === 1
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
        icon: string | null
        greeting: string | null
        starters: string
        look: string
        paused: number
      }>(sql`
        SELECT s.id, s.tenant_id, s.app_id, a.name AS app_name, s.origins, s.daily_turns,
          s.daily_tokens, s.expires_at, s.look, s.paused, a.icon, a.greeting, a.starters
        FROM share s JOIN app a ON a.id = s.app_id AND a.tenant_id = s.tenant_id
        JOIN tenant t ON t.id = s.tenant_id AND t.disabled = 0
        WHERE s.hash = ${hash}`)
      if (!row || (row.expires_at !== null && row.expires_at <= now)) return null
      return {
        id: row.id,
        hash,
        tenantId: row.tenant_id,
        appId: row.app_id,
        appName: row.app_name,
        icon: row.icon,
        greeting: row.greeting,
        starters: listOf(row.starters),
        look: lookOf(row.look),
        paused: row.paused === 1,
        origins: listOf(row.origins),
        dailyTurns: row.daily_turns,
        dailyTokens: row.daily_tokens,
      }
    },

    /** Whether a token still opens its share: not rotated, deleted, paused or expired since. */
    async isOpen(tenantId: string, hash: string, now: string): Promise<boolean> {
      const row = await db.get<{ expires_at: string | null; paused: number }>(sql`
        SELECT expires_at, paused FROM share WHERE tenant_id = ${tenantId} AND hash = ${hash}`)
      return row?.paused === 0 && (row.expires_at === null || row.expires_at > now)
    },

    ...createShareDays(db),
  }
}

export type ShareStore = ReturnType<typeof createShareStore>
