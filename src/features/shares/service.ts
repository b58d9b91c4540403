import { type Clock, DAY_MS } from '../../core/clock.ts'
import { newId, type Seal, sha256Hex } from '../../core/crypto.ts'
import { appError } from '../../core/errors.ts'
import { SHARES_MAX, SHARE_TURNS_DEFAULT as TURNS_DEFAULT } from '../../core/limits/contract.ts'
import { withinOwn } from '../../core/own-limits.ts'
import type { Principal } from '../../core/principal.ts'
import type { Apps } from '../apps/service.ts'
import type { Keys, Maker } from '../keys/service.ts'
import type { KeyLimits } from '../keys/store.ts'
import type { Budgets } from '../usage/budgets.ts'
import {
  type IssuedShare,
  type Share,
  type ShareChange,
  ShareLook,
  type ShareRequest,
} from './model.ts'
import type { OpenShare, ShareStore } from './store.ts'
import { addressOf, createTokens, isWithin } from './tokens.ts'

export interface SharesOptions {
  readonly store: ShareStore
  readonly apps: Pick<Apps, 'read'>
  readonly keys: Pick<Keys, 'ownLimits'>
  /** Tokens of visitors are counted under the id of their share. */
  readonly budgets: Pick<Budgets, 'check'>
  /** Keeps tokens for those who may see them; null without an encryption key. */
  readonly seal: Seal | null
  readonly clock: Clock
  /** Ends open turns of visitors whose link opens nothing any more. */
  readonly onClosed: (tenantId: string) => Promise<void>
}

/** A visitor's share with every part of its look. */
export interface ShownShare extends OpenShare {
  readonly look: ShareLook
}

const TOKEN = /^[A-Za-z0-9_-]{43}$/

const missing = () => appError('not_found', { what: 'share' })

const dayOf = (clock: Clock) => Math.floor(clock.now() / DAY_MS)

/** What a visitor does with a link. */
function createVisits({ store, budgets, clock }: SharesOptions) {
  return {
    /** Throws the same `not_found` for unknown, deleted and expired links. */
    async open(token: string): Promise<ShownShare> {
      const share = TOKEN.test(token) ? await store.find(sha256Hex(token), clock.iso()) : null
      if (!share) throw missing()
      return { ...share, look: ShareLook.parse(share.look) }
    },

    /**
     * Counts the turn that `open` opens; one that it refuses, such as for the tenant's budget, is
     * given back. Throws `share_paused`, `budget_spent` when the share has none left today, and as
     * `open` does.
     */
    async takeTurn<Turn>(
      { id, tenantId, paused, dailyTurns, dailyTokens }: OpenShare,
      open: () => Promise<Turn>,
    ): Promise<Turn> {
      if (paused) throw appError('share_paused')
      if (dailyTokens > 0) await budgets.check({ tenantId, keyId: id, dailyTokens })
      const day = dayOf(clock)
      if (!(await store.takeTurn(id, day, dailyTurns))) {
        const seconds = Math.ceil((DAY_MS - (clock.now() % DAY_MS)) / 1000)
        throw appError('budget_spent', {}, { headers: { 'retry-after': `${seconds}` } })
      }
      try {
        return await open()
      } catch (error) {
        await store.giveTurnBack(id, day)
        throw error
      }
    },
  }
}

/** Links by which visitors talk to an app. `site` is the address of this server. */
export function createShares(options: SharesOptions) {
  const { store, apps, keys, seal, clock, onClosed } = options

  const today = () => dayOf(clock)
  const visits = createVisits(options)
  const { newToken, shown } = createTokens(seal)

  async function one(principal: Principal, site: string, appId: string, id: string) {
    const row = await store.one(principal.tenantId, appId, id, today())
    if (!row) throw missing()
    return shown(principal, await keys.ownLimits(principal), site, row)
  }

  return {
    /**
     * A share has the token budget of the key that makes it. Throws `above_own_limit` for more
     * turns than that key may have, `quota_shares` at the quota, and `not_found` for an app that is
     * not the tenant's.
     */
    async create(
      maker: Maker,
      site: string,
      appId: string,
      request: ShareRequest,
    ): Promise<IssuedShare> {
      const { tenantId, keyId: madeBy } = maker
      await apps.read(tenantId, appId)
      const own = await keys.ownLimits(maker)
      const daily_turns = withinOwn('daily_turns', turnsOf(own), request.daily_turns, TURNS_DEFAULT)
      const at = clock.iso()
      checkExpiry(request.expires_at, at)
      const share = { id: newId(), app_id: appId, ...request, daily_turns, created_at: at }
      const { token, hash, sealed } = newToken({ tenantId, id: share.id })
      const { dailyTokens } = own
      const stored = { ...share, tenantId, hash, sealed, madeBy, dailyTokens }
      if (!(await store.insert(stored, SHARES_MAX))) {
        await apps.read(tenantId, appId)
        await keys.ownLimits(maker)
        throw appError('quota_shares', { max: SHARES_MAX })
      }
      const rest = { turns_today: 0, paused: false, look: ShareLook.parse({}) }
      return { ...share, ...rest, token, url: addressOf(site, token) }
    },

    async list(principal: Principal, site: string, appId: string): Promise<{ shares: Share[] }> {
      await apps.read(principal.tenantId, appId)
      const own = await keys.ownLimits(principal)
      const rows = await store.list(principal.tenantId, appId, today())
      return { shares: rows.map((row) => shown(principal, own, site, row)) }
    },

    /** Changes what is given; pausing ends answers that run. Throws as `create`. */
    async change(
      principal: Principal,
      site: string,
      appId: string,
      id: string,
      change: ShareChange,
    ): Promise<Share> {
      const own = await keys.ownLimits(principal)
      if (change.daily_turns !== undefined) {
        withinOwn('daily_turns', turnsOf(own), change.daily_turns, TURNS_DEFAULT)
      }
      checkExpiry(change.expires_at ?? null, clock.iso())
      if (!(await store.change(principal.tenantId, appId, id, change))) throw missing()
      if (change.paused === true) await onClosed(principal.tenantId)
      return one(principal, site, appId, id)
    },

    /**
     * Gives it another token; the old one opens nothing from then on, and answers to it end. Throws
     * `above_own_limit` for a key with a smaller budget than the share's: the link would be more.
     */
    async rotate(
      principal: Principal,
      site: string,
      appId: string,
      id: string,
    ): Promise<IssuedShare> {
      const { tenantId } = principal
      const before = await store.one(tenantId, appId, id, today())
      if (!before) throw missing()
      const own = await keys.ownLimits(principal)
      if (!isWithin(own, before)) {
        throw appError('above_own_limit', { field: 'daily_tokens', max: own.dailyTokens })
      }
      const { token, hash, sealed } = newToken({ tenantId, id })
      if (!(await store.rotate(tenantId, appId, id, { hash, sealed }))) throw missing()
      await onClosed(tenantId)
      const share = await one(principal, site, appId, id)
      return { ...share, token, url: addressOf(site, token) }
    },

    /** Deletes the link and ends open turns of its visitors. */
    async remove(tenantId: string, appId: string, id: string) {
      if (!(await store.remove(tenantId, appId, id))) throw missing()
      await onClosed(tenantId)
      return { id, deleted: true as const }
    },

    open: visits.open,
    takeTurn: visits.takeTurn,
    prune: () => store.prune(today() - 1),
  }
}

export type Shares = ReturnType<typeof createShares>

function checkExpiry(expiresAt: string | null, now: string): void {
  if (expiresAt !== null && expiresAt <= now) throw appError('share_expiry')
}

const MINUTES_A_DAY = 24 * 60

/** The turns a day that a key with these limits may have at most; 0: no limit. */
function turnsOf({ rateLimit, dailyTokens }: KeyLimits): number {
  const limits = [rateLimit * MINUTES_A_DAY, dailyTokens].filter((limit) => limit > 0)
  return limits.length === 0 ? 0 : Math.min(...limits)
}
