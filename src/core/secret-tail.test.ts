import { expect, test } from 'bun:test'
import { secretTail } from './secret-tail.ts'

test('the tail of a secret is shown from twelve characters on', () => {
  expect(secretTail('a')).toBe('')
  expect(secretTail('0123456789a')).toBe('')
  expect(secretTail('0123456789ab')).toBe('89ab')
  expect(secretTail('𠮷'.repeat(12))).toBe('𠮷'.repeat(4))
})
