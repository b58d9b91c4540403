import { expect, test } from 'bun:test'
import { median, quantile, ratioOf, short, table } from './stats.ts'

test('medians and quantiles leave missing values out', () => {
  expect(median([3, 1, 2])).toBe(2)
  expect(median([4, 1, 2, Number.NaN, 3])).toBe(2.5)
  expect(median([])).toBeNaN()
  expect(quantile([5, 1, 4, 2, 3], 0.99)).toBe(5)
})

test('a ratio compares values of the same round', () => {
  expect(ratioOf([2, 40, 6], [1, 10, 3])).toBe(2)
})

test('numbers are rounded to three digits and tables are aligned', () => {
  expect([1234.5, 12.345, 1.2345, 0.12345, Number.NaN].map(short)).toEqual([
    '1235',
    '12.3',
    '1.23',
    '0.123',
    '-',
  ])
  expect(
    table([
      ['a', 'b'],
      ['long', '1'],
    ]),
  ).toBe('a     b\n----  -\nlong  1\n')
})
