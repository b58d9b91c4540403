import { expect, test } from 'bun:test'
import type { AppError } from '../core/errors.ts'
import { createStreamSlots } from './stream-slots.ts'

/** How many streams an owner gets, opening one after another. */
function fill(slots: ReturnType<typeof createStreamSlots>, owner: string): number {
  for (let count = 0; ; count++) {
    try {
      slots.check(owner)
    } catch (error) {
      expect((error as AppError).status).toBe(503)
      expect((error as AppError).headers['retry-after']).toBe('1')
      return count
    }
    slots.take(owner)
  }
}

test('one owner cannot take the last slots of a large server from the others', () => {
  const slots = createStreamSlots(10_000)
  expect(fill(slots, 'greedy')).toBe(9_000)
  expect(fill(slots, 'modest')).toBe(1_000)
  expect(fill(slots, 'late')).toBe(0)
})

test('a small server gives all it has to whoever asks', () => {
  for (const most of [1, 2, 10, 999]) expect(fill(createStreamSlots(most), 'a')).toBe(most)
})

test('a slot that is given back can be taken again', () => {
  const slots = createStreamSlots(1)
  slots.take('a')
  expect(() => slots.check('b')).toThrow()
  slots.giveBack('a')
  slots.check('b')
})
