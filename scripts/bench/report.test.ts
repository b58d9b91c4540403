import { expect, test } from 'bun:test'
import { type Row, report } from './report.ts'

/** Cells of one row, as the table shows them. */
function shown(row: Partial<Row>): string[] {
  const whole: Row = {
    measure: 'work',
    unit: 'ms',
    product: [4, 40],
    reference: { name: 'floor', values: [2, 20] },
    target: null,
    ...row,
  }
  const line =
    report([['suite', [whole]]])
      .trim()
      .split('\n')
      .at(-1) ?? ''
  return line.trim().split(/ {2,}/)
}

test('a row of the report has the medians and the ratio of each round', () => {
  expect(shown({})).toEqual(['work (ms)', '22.0', '11.0', 'floor', '2.00'])
})

test('a target applies to the ratio, or to the value itself', () => {
  expect(shown({ target: { atMost: 2 } }).slice(-2)).toEqual(['<= 2', 'ok'])
  expect(shown({ target: { atMost: 1.9 } }).slice(-2)).toEqual(['<= 1.9', 'MISSED'])
  expect(shown({ target: { atLeast: 2 } }).slice(-2)).toEqual(['>= 2', 'ok'])
  expect(shown({ target: { atLeast: 3 } }).slice(-2)).toEqual(['>= 3', 'MISSED'])
  expect(shown({ target: { atMost: 2 }, absolute: true }).slice(-2)).toEqual(['<= 2', 'MISSED'])
})

test('a missing measurement is neither reached nor missed', () => {
  const reference = { name: 'peer', values: [Number.NaN, Number.NaN] }
  expect(shown({ reference, target: { atMost: 1 } }).slice(-3)).toEqual(['-', '<= 1', '-'])
})

test('rows of the report are under the name of their suite', () => {
  const lines = report([
    ['one', []],
    ['two', []],
  ]).split('\n')
  expect(lines.slice(2)).toEqual(['', 'one', '', 'two', ''])
})
