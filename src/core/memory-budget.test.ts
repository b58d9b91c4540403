import { expect, test } from 'bun:test'
import { BudgetExceeded, createMemoryBudget } from './memory-budget.ts'

/** Grows a share byte by byte until it is refused. */
function fill(share: { add(bytes: number): void }, step = 1): number {
  let bytes = 0
  for (; bytes < 10_000; bytes += step) {
    try {
      share.add(step)
    } catch (error) {
      expect(error).toBeInstanceOf(BudgetExceeded)
      return bytes
    }
  }
  return bytes
}

test('an owner that is alone gets eight ninths of the memory budget', () => {
  expect(fill(createMemoryBudget(900).open('a'))).toBe(800)
})

test('a second owner gets eight ninths of the rest of the memory budget', () => {
  const budget = createMemoryBudget(900)
  fill(budget.open('a'))
  expect(fill(budget.open('b'))).toBe(88)
})

test('memory shares of one owner count together', () => {
  const budget = createMemoryBudget(900)
  expect(fill(budget.open('a'), 100)).toBe(800)
  expect(fill(budget.open('a'))).toBe(0)
})

test('a small share of an owner that holds little is granted on a spent budget', () => {
  const budget = createMemoryBudget(900, 10)
  fill(budget.open('a'))
  fill(budget.open('b'))
  fill(budget.open('c'))
  expect(fill(budget.open('d'))).toBeGreaterThanOrEqual(10)
})

test('a closed memory share gives everything back', () => {
  const budget = createMemoryBudget(900)
  const share = budget.open('a')
  fill(share)
  share.close()
  share.close()
  expect(budget.used).toBe(0)
  expect(fill(budget.open('b'))).toBe(800)
})

test('a reservation that does not fit the budget counts nothing', () => {
  const budget = createMemoryBudget(900)
  const share = budget.open('a')
  expect(() => share.add(10_000)).toThrow(BudgetExceeded)
  expect([share.bytes, budget.used]).toEqual([0, 0])
})
