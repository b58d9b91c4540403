import { expect, test } from 'bun:test'
import { draftOf, inputOf } from './draft.ts'

test('a key form begins with the defaults of the server', () => {
  expect(inputOf(draftOf(null))).toEqual({ name: '', rate_limit: 60, daily_tokens: 0 })
})

test('a key form takes numbers with separated thousands, and trims the name', () => {
  const draft = { name: ' phone ', rate: '1,000', tokens: '2 000 000' }
  expect(inputOf(draft)).toEqual({ name: 'phone', rate_limit: 1000, daily_tokens: 2_000_000 })
})

test.each([
  { rate: '100001' },
  { rate: '-1' },
  { rate: '' },
  { tokens: '1.5' },
  { tokens: '1000000000001' },
  { name: '名'.repeat(61) },
])('a key form with %j is not sent', (wrong) => {
  expect(inputOf({ ...draftOf(null), ...wrong })).toBeNull()
})
