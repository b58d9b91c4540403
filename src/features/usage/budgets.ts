import { leastRecentlyUsed } from '../../core/bounded-maps.ts'
import { type Clock, DAY_MS } from '../../core/clock.ts'
import { appError } from '../../core/errors.ts'
import { BUDGETS_KEPT_MAX } from '../../core/limits/machine.ts'
import type { UsageStore, UsageSum } from './store.ts'

export interface BudgetsOptions {
  readonly store: Pick<UsageStore, 'tokensOfDay'>
  readonly clock: Pick<Clock, 'now' | 'steady'>
  /** How long a sum is believed before it is read again: other processes may add to it. */
  readonly keptMs: number
  /** Runs `work` while no sum is being written; `waiting` are the sums that are not stored yet. */
  readonly betweenWrites: <Result>(
    work: (waiting: Iterable<UsageSum>) => Promise<Result>,
  ) => Promise<Result>
}

/** A key with a daily budget. */
export interface BudgetedKey {
  readonly tenantId: string
  readonly keyId: string
  /** Input and output together. */
  readonly dailyTokens: number
}

interface Spent {
  day: number
  tokens: number
  isLoaded: boolean
  /** On the steady clock. */
  readonly readAt: number
}

/**
 * Daily token budgets of keys (contract-2, section 6). What a key has spent today is read once and
 * then counted in memory, so that a turn waits for no disk. It is exact, also across a restart: it
 * begins as what is stored and what waits to be. It is read again where other processes count, too.
 */
export function createBudgets({ store, clock, keptMs, betweenWrites }: BudgetsOptions) {
  const known = leastRecentlyUsed<Spent>(BUDGETS_KEPT_MAX, () => 1)

  /** A clock that is set back over midnight begins no new day: the budget was for both. */
  function roll(spent: Spent): void {
    const today = Math.floor(clock.now() / DAY_MS)
    if (today > spent.day) Object.assign(spent, { day: today, tokens: 0 })
  }

  const isKept = ({ isLoaded, readAt }: Spent) => isLoaded && clock.steady() - readAt < keptMs

  const load = ({ tenantId, keyId }: BudgetedKey): Promise<Spent> =>
    betweenWrites(async (waiting) => {
      const there = known.get(keyId)
      if (there && isKept(there)) return there
      const day = Math.floor(clock.now() / DAY_MS)
      const spent: Spent = { day, tokens: 0, isLoaded: false, readAt: clock.steady() }
      for (const sum of waiting) if (sum.keyId === keyId && sum.day === day) add(spent, sum)
      // From here on `count` adds to it.
      known.put(keyId, spent)
      const stored = await store.tokensOfDay(tenantId, keyId, day)
      if (spent.day === day) spent.tokens += stored
      spent.isLoaded = true
      return spent
    })

  return {
    /** Whether the key has a budget. */
    count(sum: UsageSum): boolean {
      const spent = known.get(sum.keyId)
      if (!spent) return false
      roll(spent)
      add(spent, sum)
      return true
    },

    /**
     * Throws `budget_spent` for a key that has used its tokens of this UTC day. Turns that run side
     * by side may overshoot by one each. `headers` are those of the refusal.
     */
    async check(key: BudgetedKey, headers: Readonly<Record<string, string>> = {}): Promise<void> {
      const there = known.get(key.keyId)
      const spent = there && isKept(there) ? there : await load(key)
      roll(spent)
      if (spent.tokens < key.dailyTokens) return
      const seconds = Math.ceil((DAY_MS - (clock.now() % DAY_MS)) / 1000)
      throw appError('budget_spent', {}, { headers: { ...headers, 'retry-after': `${seconds}` } })
    },
  }
}

export type Budgets = ReturnType<typeof createBudgets>

function add(spent: Spent, { inputTokens, outputTokens }: UsageSum): void {
  spent.tokens += inputTokens + outputTokens
}
