import { type Clock, DAY_MS } from '../../core/clock.ts'
import { newId, randomToken, sha256Hex } from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import { SHARES_MAX, SHARE_TURNS_DEFAULT as TURNS_DEFAULT } from '../../core/limits/contract.ts'
import { withinOwn } from '../../core/own-limits.ts'
import type { Apps } from '../apps/service.ts'
import type { Keys, Maker } from '../keys/service.ts'
import type { KeyLimits } from '../keys/store.ts'
import type { Budgets } from '../usage/service.ts'
import type { Share, ShareRequest } from './model.ts'
import type { OpenShare, ShareStore } from './store.ts'

export interface SharesOptions {
  readonly store: ShareStore
  readonly apps: Pick<Apps, 'read'>
  readonly keys: Pick<Keys, 'ownLimits'>
  /** Tokens of visitors are counted under the id of their share. */
  readonly budgets: Pick<Budgets, 'check'>
  readonly clock: Clock
  /** Ends open turns of visitors whose share was deleted. */
  readonly onRemoved: (tenantId: string) => Promise<void>
}

const TOKEN = /^[A-Za-z0-9_-]{43}$/

const missing = () => appError('not_found', { what: 'share' })

/** Links by which visitors talk to an app. */
export function createShares(options: SharesOptions) {
  const { store, apps, keys, budgets, clock, onRemoved } = options

  const today = () => Math.floor(clock.now() / DAY_MS)

  return {
    /**
     * A share has the token budget of the key that makes it. Throws `above_own_limit` for more
     * turns than that key may have, `quota_shares` at the quota, and `not_found` for an app that is
     * not the tenant's.
     */
    async create(maker: Maker, appId: string, request: ShareRequest) {
      const { tenantId, keyId: madeBy } = maker
      await apps.read(tenantId, appId)
      const own = await keys.ownLimits(maker)
      const daily_turns = withinOwn('daily_turns', turnsOf(own), request.daily_turns, TURNS_DEFAULT)
      const at = clock.iso()
      if (request.expires_at !== null && request.expires_at <= at) throw appError('share_expiry')
      const token = randomToken(32)
      const share = { id: newId(), app_id: appId, ...request, daily_turns, created_at: at }
      const { dailyTokens } = own
      const stored = { ...share, tenantId, hash: sha256Hex(token), madeBy, dailyTokens }
      if (!(await store.insert(stored, SHARES_MAX))) {
        await apps.read(tenantId, appId)
        await keys.ownLimits(maker)
        throw appError('quota_shares', { max: SHARES_MAX })
      }
      return { ...share, turns_today: 0, token }
    },

    async list(tenantId: string, appId: string): Promise<{ shares: Share[] }> {
      await apps.read(tenantId, appId)
      const rows = await store.list(tenantId, appId, today())
      return { shares: rows.map((row) => ({ ...row, origins: [...row.origins] })) }
    },

    /** Deletes the link and ends open turns of its visitors. */
    async remove(tenantId: string, appId: string, id: string) {
      if (!(await store.remove(tenantId, appId, id))) throw missing()
      await onRemoved(tenantId)
      return { id, deleted: true as const }
    },

    /** Throws the same `not_found` for unknown, deleted and expired links. */
    async open(token: string): Promise<OpenShare> {
      const share = TOKEN.test(token) ? await store.find(sha256Hex(token), clock.iso()) : null
      if (!share) throw missing()
      return share
    },

    /** Counts a turn. Throws `budget_spent` when the share has none left today. */
    async takeTurn({ id, tenantId, dailyTurns, dailyTokens }: OpenShare): Promise<void> {
      if (dailyTokens > 0) await budgets.check({ tenantId, keyId: id, dailyTokens })
      if (await store.takeTurn(id, today(), dailyTurns)) return
      const seconds = Math.ceil((DAY_MS - (clock.now() % DAY_MS)) / 1000)
      throw appError('budget_spent', {}, { headers: { 'retry-after': `${seconds}` } })
    },

    prune: () => store.prune(today() - 1),
  }
}

export type Shares = ReturnType<typeof createShares>

const MINUTES_A_DAY = 24 * 60

/** The turns a day that a key with these limits may have at most; 0: no limit. */
function turnsOf({ rateLimit, dailyTokens }: KeyLimits): number {
  const limits = [rateLimit * MINUTES_A_DAY, dailyTokens].filter((limit) => limit > 0)
  return limits.length === 0 ? 0 : Math.min(...limits)
}
