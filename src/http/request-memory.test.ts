import { expect, test } from 'bun:test'
import { AppError } from '../core/errors.ts'
import { BODY_COST } from '../core/limits/machine.ts'
import { createMemoryBudget } from '../core/memory-budget.ts'
import { createRequestMemory } from './request-memory.ts'

const request = () => new Request('http://localhost/')
/** A budget that bodies of `bytes` use up. */
const memoryOf = (bytes: number) => {
  const budget = createMemoryBudget(bytes * BODY_COST)
  return { budget, memory: createRequestMemory(budget) }
}

/** The status of a refusal, null when there was room. */
function refusal(work: () => void): number | null {
  try {
    work()
    return null
  } catch (error) {
    if (error instanceof AppError && error.headers['retry-after'] === '1') return error.status
    throw error
  }
}

test('bodies of one owner leave a ninth of the memory to the others', () => {
  const { memory } = memoryOf(900)
  const first = request()
  memory.add(first, 'a', 400)
  memory.add(first, 'a', 400)
  expect(refusal(() => memory.add(first, 'a', 1))).toBe(503)
  memory.add(request(), 'b', 80)
})

test('an answered request gives its memory back', () => {
  const { memory, budget } = memoryOf(900)
  const one = request()
  memory.add(one, 'a', 400)
  memory.add(one, 'a', 400)
  memory.release(one)
  memory.release(request())
  expect(budget.used).toBe(0)
})

test('a stream keeps the body of its request counted until it ends', () => {
  const { memory, budget } = memoryOf(900)
  const one = request()
  memory.add(one, 'a', 500)
  const release = memory.keep(one)
  memory.release(one)
  expect(budget.used).toBe(500 * BODY_COST)
  release()
  expect(budget.used).toBe(0)
})

test('a stream without a large body keeps nothing', () => {
  const { memory, budget } = memoryOf(900)
  memory.keep(request())()
  expect(budget.used).toBe(0)
})
