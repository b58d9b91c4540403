import { expect, test } from 'bun:test'
import type { AppError } from '../core/errors.ts'
import { createStreamSlots } from './stream-slots.ts'

type Slots = ReturnType<typeof createStreamSlots>

function opens(slots: Slots, owner: string): boolean {
  try {
    slots.check(owner)
  } catch (error) {
    expect((error as AppError).status).toBe(503)
    expect((error as AppError).headers['retry-after']).toBe('1')
    return false
  }
  slots.take(owner)
  return true
}

/** How many streams an owner gets, opening one after another. */
function fill(slots: Slots, owner: string): number {
  let count = 0
  while (opens(slots, owner)) count++
  return count
}

test('an owner that is alone may open as many streams as the server has', () => {
  for (const most of [1, 2, 10, 10_000]) {
    expect(
      fill(
        createStreamSlots(most, () => 0),
        'alone',
      ),
    ).toBe(most)
  }
})

test('slots that become free go to an owner that was refused below its share', () => {
  const slots = createStreamSlots(10, () => 0)
  expect(fill(slots, 'greedy')).toBe(10)
  expect(opens(slots, 'modest')).toBe(false)
  for (let count = 0; count < 5; count++) {
    slots.giveBack('greedy')
    expect(opens(slots, 'greedy')).toBe(false)
    expect(opens(slots, 'modest')).toBe(true)
  }
  slots.giveBack('greedy')
  expect(opens(slots, 'greedy')).toBe(true)
})

test('a claim that nobody renews ends, and every slot is used again', () => {
  let now = 0
  const slots = createStreamSlots(10, () => now)
  expect(fill(slots, 'greedy')).toBe(10)
  expect(opens(slots, 'modest')).toBe(false)
  slots.giveBack('greedy')
  expect(opens(slots, 'greedy')).toBe(false)
  now = 10_000
  expect(opens(slots, 'greedy')).toBe(true)
})

test('an owner at its share leaves no claim when it is refused', () => {
  const slots = createStreamSlots(2, () => 0)
  expect([opens(slots, 'a'), opens(slots, 'b')]).toEqual([true, true])
  expect([opens(slots, 'a'), opens(slots, 'b')]).toEqual([false, false])
  slots.giveBack('b')
  expect(opens(slots, 'a')).toBe(true)
})

test('a slot that is given back can be taken again', () => {
  const slots = createStreamSlots(1, () => 0)
  slots.take('a')
  expect(opens(slots, 'b')).toBe(false)
  slots.giveBack('a')
  expect(opens(slots, 'b')).toBe(true)
})
