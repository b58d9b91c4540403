import { leastRecentlyUsed } from '../../core/bounded-maps.ts'
import { personSubject, tenantSubject } from '../../core/budget-subjects.ts'
import { type Clock, DAY_MS } from '../../core/clock.ts'
import { appError } from '../../core/errors.ts'
import { BUDGETS_KEPT_MAX } from '../../core/limits/machine.ts'
import type { BudgetedKey } from '../../core/principal.ts'
import type { UsageStore, UsageSum } from './store.ts'

export interface BudgetsOptions {
  readonly store: Pick<UsageStore, 'tokensOfDay' | 'tokensOfTenant' | 'tokensOfPerson'>
  readonly clock: Pick<Clock, 'now' | 'steady'>
  /** How long a sum is used before it is read again: other processes may add to it. */
  readonly keptMs: number
  /** Runs `work` while no sum is being written; `waiting` are the sums that are not stored yet. */
  readonly betweenWrites: <Result>(
    work: (waiting: Iterable<UsageSum>) => Promise<Result>,
  ) => Promise<Result>
  /** Called when a key has used its tokens of the day, perhaps more than once. */
  readonly onSpent?: (tenantId: string, keyId: string, day: number) => void
}

const subjectsOf = ({ tenantId, keyId, userId }: UsageSum): string[] => [
  keyId,
  tenantSubject(tenantId),
  ...(userId ? [personSubject(tenantId, userId)] : []),
]

function storedOf(
  store: BudgetsOptions['store'],
  tenantId: string,
  subject: string,
  day: number,
): Promise<number> {
  const [kind, , userId] = subject.split(' ')
  if (kind === 'tenant') return store.tokensOfTenant(tenantId, day)
  if (kind === 'person') return store.tokensOfPerson(tenantId, userId ?? '', day)
  return store.tokensOfDay(tenantId, subject, day)
}

/** When a refused client may ask again whether the turns that hold the rest have ended. */
const HELD_RETRY_SECONDS = 5

interface Spent {
  day: number
  tokens: number
  isLoaded: boolean
  /** What the key may use a day, as it was last asked; null before. */
  most: number | null
  /** On the steady clock. */
  readonly readAt: number
}

/**
 * Daily token budgets of keys. What a key has spent today is read once and then counted in memory,
 * so that a turn waits for no disk. It is exact, also across a restart: it begins as what is stored
 * and what waits to be. It is read again where other processes count, too.
 */
export function createBudgets(options: BudgetsOptions) {
  const { store, clock, keptMs, betweenWrites, onSpent } = options
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
      const readAt = clock.steady()
      const spent: Spent = { day, tokens: 0, isLoaded: false, most: null, readAt }
      for (const sum of waiting)
        if (sum.day === day && subjectsOf(sum).includes(keyId)) add(spent, sum)
      // From here on `count` adds to it.
      known.put(keyId, spent)
      const stored = await storedOf(store, tenantId, keyId, day)
      if (spent.day === day) spent.tokens += stored
      spent.isLoaded = true
      return spent
    })

  /** What open turns of a key hold. */
  const held = new Map<string, number>()
  const heldBy = (keyId: string) => held.get(keyId) ?? 0

  async function spentBy(key: BudgetedKey): Promise<Spent> {
    const there = known.get(key.keyId)
    return there && isKept(there) ? there : load(key)
  }

  function judge(
    spent: Spent,
    { tenantId, keyId, dailyTokens }: BudgetedKey,
    headers: Readonly<Record<string, string>>,
  ): void {
    roll(spent)
    spent.most = dailyTokens
    if (spent.tokens >= dailyTokens) onSpent?.(tenantId, keyId, spent.day)
    if (spent.tokens + heldBy(keyId) < dailyTokens) return
    const untilMidnight = Math.ceil((DAY_MS - (clock.now() % DAY_MS)) / 1000)
    const seconds = spent.tokens < dailyTokens ? HELD_RETRY_SECONDS : untilMidnight
    throw appError('budget_spent', {}, { headers: { ...headers, 'retry-after': `${seconds}` } })
  }

  return {
    /** Whether the key has a budget. */
    count(sum: UsageSum): boolean {
      const { tenantId, keyId } = sum
      const budgeted = subjectsOf(sum).flatMap((subject) => known.get(subject) ?? [])
      for (const spent of budgeted) {
        roll(spent)
        const { tokens } = spent
        add(spent, sum)
        const { most, day } = spent
        if (most !== null && tokens < most && spent.tokens >= most && spent === known.get(keyId))
          onSpent?.(tenantId, keyId, day)
      }
      return budgeted.length > 0
    },

    /**
     * Throws `budget_spent` for a key that has used its tokens of this UTC day, or whose open turns
     * hold the rest. `headers` are those of the refusal.
     */
    async check(key: BudgetedKey, headers: Readonly<Record<string, string>> = {}): Promise<void> {
      judge(await spentBy(key), key, headers)
    },

    /** Whether the key has used its tokens of this UTC day. */
    async isSpent(key: BudgetedKey): Promise<boolean> {
      const spent = await spentBy(key)
      roll(spent)
      return spent.tokens >= key.dailyTokens
    },

    /**
     * As `check`; then `tokens` count as used until the returned function is called. So turns that
     * begin side by side do not all pass because none of them has ended.
     */
    async hold(key: BudgetedKey, tokens: number): Promise<() => void> {
      judge(await spentBy(key), key, {})
      const { keyId } = key
      held.set(keyId, heldBy(keyId) + tokens)
      let isHeld = true
      return () => {
        if (!isHeld) return
        isHeld = false
        const left = heldBy(keyId) - tokens
        if (left > 0) held.set(keyId, left)
        else held.delete(keyId)
      }
    },
  }
}

export type Budgets = ReturnType<typeof createBudgets>

function add(spent: Spent, { inputTokens, outputTokens }: UsageSum): void {
  spent.tokens += inputTokens + outputTokens
}
