import { expect, test } from 'bun:test'
import { AGENT_BODY_BYTES_MAX } from '../core/limits/contract.ts'
import { BODY_COST } from '../core/limits/machine.ts'
import { createMemoryBudget } from '../core/memory-budget.ts'
import { requestBudgetBytes } from './machine.ts'

const GB = 1024 ** 3

test('a small machine takes the largest body, of one tenant that is alone', () => {
  const budget = createMemoryBudget(requestBudgetBytes(GB / 4))
  budget.open('tenant').add(AGENT_BODY_BYTES_MAX * BODY_COST)
})

test('requests take at most half of the memory of a machine', () => {
  expect(requestBudgetBytes(4 * GB)).toBe(2 * GB)
  expect(requestBudgetBytes(256 * GB)).toBe(128 * GB)
})

test('this machine can take the largest body', () => {
  expect(requestBudgetBytes()).toBeGreaterThan(AGENT_BODY_BYTES_MAX * BODY_COST)
})
