import { expect, test } from 'bun:test'
import type { Transcript } from '../../api/types.ts'
import { joinNewest } from './use-stored.ts'

const page = (from: number, to: number): Transcript => ({
  turns: Array.from({ length: from - to + 1 }, (_, at) => ({
    ...{ seq: from - at, user_text: '', reply: '', created_at: '', details: null },
  })),
  next_before: to > 1 ? to : null,
})
const shown = { pages: [page(9, 7), page(6, 1)], pageParams: [null, 7] }
const numbers = (pages: readonly Transcript[] = []) =>
  pages.flatMap(({ turns }) => turns.map(({ seq }) => seq))

test('the newest turns are joined with the loaded ones', () => {
  expect(numbers(joinNewest(shown, page(10, 8))?.pages)).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
  expect(numbers(joinNewest(shown, page(8, 6))?.pages)).toEqual([8, 7, 6, 5, 4, 3, 2, 1])
})

test('turns that do not reach those that are shown join nothing', () => {
  expect(joinNewest(shown, page(13, 11))).toBeNull()
  expect(joinNewest(shown, { turns: [], next_before: null })).toBeNull()
})
