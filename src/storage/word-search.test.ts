import { expect, test } from 'bun:test'
import { isOneSlip, mayBeMisspelt } from './word-search.ts'

for (const [word, other, near] of [
  ['warranty', 'waranty', true],
  ['waranty', 'warranty', true],
  ['warrenty', 'warranty', true],
  ['warratny', 'warranty', true],
  ['warrantyy', 'warranty', true],
  ['warranty', 'warranty', false],
  ['warranty', 'guaranty', false],
  ['warrnaty', 'warranty', true],
  ['wrarntay', 'warranty', false],
  ['abcd', 'abdcx', false],
  ['abcd', 'badc', false],
  ['гарантя', 'гаранти', true],
] as const) {
  test(`${word} and ${other} are ${near ? '' : 'not '}one slip apart`, () => {
    expect(isOneSlip(word, other)).toBe(near)
    expect(isOneSlip(other, word)).toBe(near)
  })
}

test('only longer words of letters may be misspelt', () => {
  expect(['warrenty', 'гарантя'].every(mayBeMisspelt)).toBe(true)
  expect(['cost', 'ab-1234', 'x1234', '保修', '保*', 'prefix*', ''].some(mayBeMisspelt)).toBe(false)
})
