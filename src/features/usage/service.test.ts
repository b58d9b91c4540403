import { expect, test } from 'bun:test'
import { DAY_MS } from '../../core/clock.ts'
import { createBudgets } from './budgets.ts'
import type { UsageSum } from './store.ts'

const TODAY = 20_000
const key = { tenantId: 't', keyId: 'k', dailyTokens: 100 }
const none = async () => 0
const tokens = (inputTokens: number, more: Partial<UsageSum> = {}): UsageSum => ({
  tenantId: 't',
  day: TODAY,
  keyId: 'k',
  appId: '',
  channel: 'platform',
  source: 'api',
  calls: 0,
  begun: 0,
  inputTokens,
  outputTokens: 0,
  usedAt: null,
  ...more,
})

/** Budgets over sums that wait to be written and a stored sum that can be held back. */
function budgetsWith(waiting: UsageSum[], stored: () => Promise<number>) {
  const clock = { at: TODAY * DAY_MS, now: () => clock.at, steady: () => 0 }
  const budgets = createBudgets({
    store: { tokensOfDay: async () => stored(), tokensOfTenant: none, tokensOfPerson: none },
    clock,
    keptMs: 1,
    betweenWrites: (work) => work(waiting),
  })
  const isSpent = () =>
    budgets.check(key).then(
      () => false,
      () => true,
    )
  return { budgets, clock, isSpent }
}

test('a budget counts stored, waiting and simultaneous tokens', async () => {
  const read = Promise.withResolvers<number>()
  const waiting = [tokens(20), tokens(50, { keyId: 'other' }), tokens(50, { day: TODAY - 1 })]
  const { budgets, isSpent } = budgetsWith(waiting, () => read.promise)
  const first = isSpent()
  budgets.count(tokens(30))
  read.resolve(49)
  expect(await first).toBe(false)
  budgets.count(tokens(1))
  expect(await isSpent()).toBe(true)
})

test('a budget that could not be read is read again', async () => {
  let broken = true
  const stored = async () => {
    if (broken) throw new Error('disk')
    return 100
  }
  const { budgets, isSpent } = budgetsWith([], stored)
  await expect(budgets.check(key)).rejects.toThrow('disk')
  broken = false
  expect(await isSpent()).toBe(true)
})

test('a clock that is set back over midnight does not give a second budget', async () => {
  const { budgets, clock, isSpent } = budgetsWith([], async () => 0)
  expect(await isSpent()).toBe(false)
  budgets.count(tokens(100))
  clock.at -= 1
  expect(await isSpent()).toBe(true)
  clock.at += DAY_MS
  expect(await isSpent()).toBe(true)
  clock.at += 1
  expect(await isSpent()).toBe(false)
})

test('a budget that other processes count, too, is read again after a while', async () => {
  const clock = { now: () => TODAY * DAY_MS, at: 0, steady: () => clock.at }
  let stored = 0
  const budgets = createBudgets({
    clock,
    keptMs: 1_000,
    store: { tokensOfDay: async () => stored, tokensOfTenant: none, tokensOfPerson: none },
    betweenWrites: (work) => work([]),
  })
  await budgets.check(key)
  stored = key.dailyTokens
  clock.at = 999
  await budgets.check(key)
  clock.at = 1_000
  await expect(budgets.check(key)).rejects.toThrow('今日额度已用完')
})

test('what open turns hold counts as spent until they give it back, once', async () => {
  const { budgets, isSpent } = budgetsWith([], async () => 0)
  const holds = await Promise.allSettled([budgets.hold(key, 99), budgets.hold(key, 1)])
  expect(holds.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
  expect(await isSpent()).toBe(true)
  await expect(budgets.hold(key, 1)).rejects.toThrow()
  for (const hold of holds) {
    if (hold.status !== 'fulfilled') continue
    hold.value()
    hold.value()
  }
  expect(await isSpent()).toBe(false)
  budgets.count(tokens(100))
  expect(await isSpent()).toBe(true)
})
