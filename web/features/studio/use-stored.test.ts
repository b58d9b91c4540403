import { expect, test } from 'bun:test'
import type { Transcript } from '../../api/types.ts'
import { joinNewest, newer, rowsOf } from './use-stored.ts'

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

test('joined with the newest turns, pages reach to the end', () => {
  const part = { pages: [page(9, 7), page(6, 1)], pageParams: [10, 7] }
  expect(joinNewest(part, page(10, 8))?.pageParams).toEqual([null, 7])
})

test('the next newer page goes on after the newest turn, until one is not full', () => {
  expect(newer(page(60, 31), null, null)).toBeNull()
  expect(newer(page(16, 1), null, 17)).toBe(37)
  expect(newer(page(35, 16), null, 37)).toBeNull()
  expect(newer(page(36, 17), null, 37)).toBe(57)
  expect(newer({ turns: [], next_before: null }, null, 37)).toBeNull()
})

test('turns that two pages have are told once', () => {
  expect(rowsOf([page(8, 3), page(5, 2), page(1, 1)]).map(({ seq }) => seq)).toEqual([
    ...[8, 7, 6, 5, 4, 3, 2, 1],
  ])
})
