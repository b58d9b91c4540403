import { leastRecentlyUsed } from '../../core/bounded-maps.ts'
import { type Clock, createSettledClock, DAY_MS } from '../../core/clock.ts'
import { appError } from '../../core/errors.ts'
import { USAGE_DAYS } from '../../core/limits/contract.ts'
import { BUDGETS_KEPT_MAX, CLOCK_SETTLED_MS, USAGE_KEY_DAYS } from '../../core/limits/machine.ts'
import type { BudgetedKey, Principal } from '../../core/principal.ts'
import type { LlmUsage } from '../../upstream/ports/llm.ts'
import type { KeyActivity } from '../keys/service.ts'
import type { UsageResponse } from './model.ts'
import type { UsageStore, UsageSum } from './store.ts'

export interface UsageOptions {
  readonly store: UsageStore
  readonly clock: Clock
  /** Adds counts together before they are stored. */
  readonly sums: { add(sum: UsageSum): void; flush(): Promise<void> }
  readonly budgets: Pick<Budgets, 'count'>
}

type Caller = Pick<Principal, 'tenantId' | 'keyId' | 'appId' | 'shareId'>

/** Sums with the same text are added together. */
export const keyOfSum = ({ tenantId, day, keyId, appId, channel }: UsageSum): string =>
  `${tenantId}/${day}/${keyId}/${appId}/${channel}`

export function addToSum(sum: UsageSum, more: UsageSum): void {
  sum.calls += more.calls
  sum.inputTokens += more.inputTokens
  sum.outputTokens += more.outputTokens
  // Sums that could not be written are added to later ones.
  sum.usedAt = Math.max(sum.usedAt ?? 0, more.usedAt ?? 0) || null
}

/** Deletes counts that reports no longer show; nothing soon after the clock was set. */
function createPrune(store: UsageStore, clock: Clock) {
  const isSettled = createSettledClock(clock, CLOCK_SETTLED_MS)
  return async (): Promise<void> => {
    if (!isSettled()) return
    const before = Math.floor(clock.now() / DAY_MS) - USAGE_KEY_DAYS
    await store.pruneWriters(clock.now() - DAY_MS)
    while ((await store.prune(before)) > 0);
  }
}

const sumOf = (
  { tenantId, keyId, appId, shareId }: Caller,
  day: number,
  calls: number,
): UsageSum => ({
  tenantId,
  day,
  keyId: keyId ?? shareId ?? '',
  appId: appId ?? '',
  channel: '',
  calls,
  inputTokens: 0,
  outputTokens: 0,
  usedAt: null,
})

/** Counts the calls of a tenant and the tokens of its turns. */
export function createUsage({ store, clock, sums, budgets }: UsageOptions) {
  const today = () => Math.floor(clock.now() / DAY_MS)

  return {
    /** Counts one authenticated machine call. */
    countCall(caller: Caller): void {
      const sum = sumOf(caller, today(), 1)
      sum.usedAt = clock.now()
      sums.add(sum)
    },

    /** The call of a general key turned out to be one of the app that it named. */
    countAsApp(caller: Caller): void {
      sums.add(sumOf({ ...caller, appId: null }, today(), -1))
      sums.add(sumOf(caller, today(), 1))
    },

    /** Counts the tokens of one model call of a turn. */
    countTokens(caller: Caller, channel: UsageSum['channel'], tokens: LlmUsage): void {
      const { inputTokens, outputTokens } = tokens
      const sum = { ...sumOf(caller, today(), 0), channel, inputTokens, outputTokens }
      sums.add(sum)
      // Stored at once, before the turn is stored: a budget must survive a crash.
      if (budgets.count(sum)) void sums.flush()
    },

    prune: createPrune(store, clock),

    /** When keys were last used, and how often in the days of a report, by their ids. */
    async activity(tenantId: string): Promise<Map<string, KeyActivity>> {
      await sums.flush()
      const rows = await store.activity(tenantId, today() - USAGE_DAYS + 1)
      return new Map(rows.map(({ keyId, ...used }) => [keyId, used]))
    },

    /** Each of the last days, with zero where there was no call. Answered calls are included. */
    async report(tenantId: string): Promise<UsageResponse> {
      await sums.flush()
      const last = today()
      const since = last - USAGE_DAYS + 1
      const [total, rows, keys, channels] = await Promise.all([
        store.totals(tenantId),
        store.byApp(tenantId, since),
        store.byKey(tenantId, since, last),
        store.byChannel(tenantId, since),
      ])
      const daily = Array.from({ length: USAGE_DAYS }, (_, index) => {
        const day = since + index
        const { calls, ...tokens } = figuresOf(rows.filter((row) => row.day === day))
        return { day, count: calls, ...tokens }
      })
      const { input_tokens: input = 0, output_tokens: output = 0 } = daily.at(-1) ?? {}
      return {
        total: total.calls,
        daily,
        key_count: total.keyCount,
        tokens: {
          today: { input, output },
          total: { input: total.inputTokens, output: total.outputTokens },
        },
        by_app: byApp(rows),
        by_key: keys.map(({ keyId, prefix, ...row }) => ({
          key_id: keyId,
          prefix,
          ...figuresOf([row]),
        })),
        spent_today: keys
          .filter(({ tokensToday }) => tokensToday > 0)
          .map(({ keyId, tokensToday }) => ({ key_id: keyId, tokens: tokensToday })),
        by_channel: channels.map(({ channel, inputTokens, outputTokens }) => ({
          channel,
          input_tokens: inputTokens,
          output_tokens: outputTokens,
        })),
      }
    },
  }
}

export type Usage = ReturnType<typeof createUsage>

interface Row {
  readonly calls: number
  readonly inputTokens: number
  readonly outputTokens: number
}

function figuresOf(rows: readonly Row[]) {
  const figures = { calls: 0, input_tokens: 0, output_tokens: 0 }
  for (const { calls, inputTokens, outputTokens } of rows) {
    figures.calls += calls
    figures.input_tokens += inputTokens
    figures.output_tokens += outputTokens
  }
  return figures
}

function byApp(rows: readonly (Row & { readonly appId: string })[]) {
  return [...Map.groupBy(rows, ({ appId }) => appId)]
    .map(([appId, days]) => ({ app_id: appId || null, ...figuresOf(days) }))
    .sort((a, b) => allOf(b) - allOf(a) || b.calls - a.calls)
}

const allOf = (row: { input_tokens: number; output_tokens: number }) =>
  row.input_tokens + row.output_tokens

export interface BudgetsOptions {
  readonly store: Pick<UsageStore, 'tokensOfDay'>
  readonly clock: Pick<Clock, 'now' | 'steady'>
  /** How long a sum is used before it is read again: other processes may add to it. */
  readonly keptMs: number
  /** Runs `work` while no sum is being written; `waiting` are the sums that are not stored yet. */
  readonly betweenWrites: <Result>(
    work: (waiting: Iterable<UsageSum>) => Promise<Result>,
  ) => Promise<Result>
}

/** When a refused client may ask again whether the turns that hold the rest have ended. */
const HELD_RETRY_SECONDS = 5

interface Spent {
  day: number
  tokens: number
  isLoaded: boolean
  /** On the steady clock. */
  readonly readAt: number
}

/**
 * Daily token budgets of keys. What a key has spent today is read once and then counted in memory,
 * so that a turn waits for no disk. It is exact, also across a restart: it begins as what is stored
 * and what waits to be. It is read again where other processes count, too.
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

  /** What open turns of a key hold. */
  const held = new Map<string, number>()
  const heldBy = (keyId: string) => held.get(keyId) ?? 0

  async function spentBy(key: BudgetedKey): Promise<Spent> {
    const there = known.get(key.keyId)
    return there && isKept(there) ? there : load(key)
  }

  function judge(
    spent: Spent,
    { keyId, dailyTokens }: BudgetedKey,
    headers: Readonly<Record<string, string>>,
  ): void {
    roll(spent)
    if (spent.tokens + heldBy(keyId) < dailyTokens) return
    const untilMidnight = Math.ceil((DAY_MS - (clock.now() % DAY_MS)) / 1000)
    const seconds = spent.tokens < dailyTokens ? HELD_RETRY_SECONDS : untilMidnight
    throw appError('budget_spent', {}, { headers: { ...headers, 'retry-after': `${seconds}` } })
  }

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
     * Throws `budget_spent` for a key that has used its tokens of this UTC day, or whose open turns
     * hold the rest. `headers` are those of the refusal.
     */
    async check(key: BudgetedKey, headers: Readonly<Record<string, string>> = {}): Promise<void> {
      judge(await spentBy(key), key, headers)
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
