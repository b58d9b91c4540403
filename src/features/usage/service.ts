import { type Clock, DAY_MS } from '../../core/clock.ts'
import { USAGE_DAYS } from '../../core/limits/contract.ts'
import { USAGE_KEY_DAYS } from '../../core/limits/machine.ts'
import type { Principal } from '../../core/principal.ts'
import type { LlmUsage } from '../../upstream/ports/llm.ts'
import type { KeyActivity } from '../keys/service.ts'
import type { Budgets } from './budgets.ts'
import type { Source, UsageResponse } from './model.ts'
import type { UsageStore, UsageSum } from './store.ts'

export interface UsageOptions {
  readonly store: UsageStore
  readonly clock: Clock
  /** Adds counts together before they are stored. */
  readonly sums: { add(sum: UsageSum): void; flush(): Promise<void> }
  readonly budgets: Pick<Budgets, 'count'>
}

type Caller = Pick<
  Principal,
  'tenantId' | 'keyId' | 'appId' | 'deviceId' | 'userId' | 'shareId' | 'run'
>

function sourceOf({ shareId, deviceId, userId, run }: Caller): Source {
  if (run) return 'run'
  if (shareId !== undefined) return 'share'
  if (deviceId !== null) return 'device'
  return userId === null ? 'api' : 'console'
}

/** Sums with the same text are added together. */
export const keyOfSum = ({
  tenantId,
  day,
  keyId,
  appId,
  userId,
  channel,
  source,
}: UsageSum): string => `${tenantId}/${day}/${keyId}/${appId}/${userId ?? ''}/${channel}/${source}`

export function addToSum(sum: UsageSum, more: UsageSum): void {
  sum.calls += more.calls
  sum.begun += more.begun
  sum.inputTokens += more.inputTokens
  sum.outputTokens += more.outputTokens
  // Sums that could not be written are added to later ones.
  sum.usedAt = Math.max(sum.usedAt ?? 0, more.usedAt ?? 0) || null
}

/** Deletes counts that reports no longer show. */
async function prune(store: UsageStore, clock: Clock): Promise<void> {
  const before = Math.floor(clock.now() / DAY_MS) - USAGE_KEY_DAYS
  await store.pruneWriters(clock.now() - DAY_MS)
  while ((await store.prune(before)) > 0);
}

const sumOf = (caller: Caller, day: number, calls: number, begun = calls): UsageSum => ({
  tenantId: caller.tenantId,
  day,
  keyId: caller.keyId ?? caller.shareId ?? '',
  appId: caller.appId ?? '',
  ...(caller.keyId === null && caller.userId ? { userId: caller.userId } : {}),
  channel: '',
  source: sourceOf(caller),
  calls,
  begun,
  inputTokens: 0,
  outputTokens: 0,
  usedAt: null,
})

/** Who reads a report: an owner, or a general key, sees everybody's use. */
type ReportReader = Pick<Principal, 'tenantId' | 'userId' | 'role'>

/** Counts the calls of a tenant and the tokens of its turns. */
export function createUsage({ store, clock, sums, budgets }: UsageOptions) {
  const today = () => Math.floor(clock.now() / DAY_MS)
  let storing = Promise.resolve()

  return {
    /** Counts one authenticated machine call. */
    countCall(caller: Caller): void {
      const sum = sumOf(caller, today(), 1)
      sum.usedAt = clock.now()
      sums.add(sum)
    },

    /** Counts a turn that no call has begun: a visitor's is one, a person's has its source only. */
    countTurn(caller: Caller): void {
      sums.add(sumOf(caller, today(), caller.shareId === undefined ? 0 : 1, 1))
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
      if (budgets.count(sum)) storing = sums.flush()
    },

    /** A turn waits for this before its end is told: what it has cost a budget survives a crash. */
    stored: (): Promise<void> => storing,

    prune: () => prune(store, clock),

    /** Stores what is counted. */
    flush: (): Promise<void> => sums.flush(),

    /** What a person has used today in the console of a tenant. */
    async tokensToday(tenantId: string, userId: string): Promise<number> {
      await sums.flush()
      return store.tokensOfPerson(tenantId, userId, today())
    },

    /** When keys were last used, and how often in the days of a report, by their ids. */
    async activity(tenantId: string): Promise<Map<string, KeyActivity>> {
      await sums.flush()
      const rows = await store.activity(tenantId, today() - USAGE_DAYS + 1)
      return new Map(rows.map(({ keyId, ...used }) => [keyId, used]))
    },

    /**
     * Each of the last days, with zero where there was no call: of the tenant, or of one of its
     * apps. Answered calls are included.
     */
    async report(
      { tenantId, userId, role }: ReportReader,
      appId: string | null = null,
    ): Promise<UsageResponse> {
      await sums.flush()
      const last = today()
      const since = last - USAGE_DAYS + 1
      const [total, rows, keys, channels, people, sources] = await Promise.all([
        store.totals(tenantId),
        store.byApp(tenantId, since),
        store.byKey(tenantId, since, last),
        store.byChannel(tenantId, since),
        store.byPerson(tenantId, since),
        store.bySource(tenantId, since),
      ])
      const ofToday = figuresOf(rows.filter(({ day }) => day === last))
      const { input_tokens: input, output_tokens: output } = ofToday
      return {
        total: total.calls,
        daily: dailyOf(rows, since, appId),
        key_count: total.keyCount,
        tokens: {
          today: { input, output },
          total: { input: total.inputTokens, output: total.outputTokens },
        },
        by_app: byApp(rows),
        by_source: sources.map(({ source, ...row }) => ({ source, ...figuresOf([row]) })),
        by_key: keys.map(({ keyId, prefix, ...row }) => ({
          key_id: keyId,
          prefix,
          ...figuresOf([row]),
        })),
        spent_today: keys
          .filter(({ tokensToday }) => tokensToday > 0)
          .map(({ keyId, tokensToday }) => ({ key_id: keyId, tokens: tokensToday })),
        by_person: people
          .filter((row) => role === undefined || role === 'owner' || row.userId === userId)
          .map((row) => ({
            user_id: row.userId,
            input_tokens: row.inputTokens,
            output_tokens: row.outputTokens,
          })),
        by_channel: channels.map(({ channel, inputTokens, outputTokens }) => ({
          channel,
          input_tokens: inputTokens,
          output_tokens: outputTokens,
        })),
      }
    },
  }
}

type AppDay = Awaited<ReturnType<UsageStore['byApp']>>[number]

/** Every day of a report from `since` on, of one app or of all. */
function dailyOf(rows: readonly AppDay[], since: number, appId: string | null) {
  const shown = rows.filter((row) => appId === null || row.appId === appId)
  return Array.from({ length: USAGE_DAYS }, (_, index) => {
    const day = since + index
    const { calls, ...tokens } = figuresOf(shown.filter((row) => row.day === day))
    return { day, count: calls, ...tokens }
  })
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
