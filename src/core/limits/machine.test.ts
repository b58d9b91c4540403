import { expect, test } from 'bun:test'
import { AGENT_TEXT_CHARS_MAX, CHAT_TEXT_CHARS_MAX } from './contract.ts'
import { SESSION_UNITS_MAX } from './machine.ts'
import { ANSWER_CHARS_MAX } from './upstream.ts'

test('a session holds more than one turn of the largest kind, so that one can be folded', () => {
  // A character may be two UTF-16 units; the answer is counted in units.
  const largest = 2 * Math.max(AGENT_TEXT_CHARS_MAX, CHAT_TEXT_CHARS_MAX) + ANSWER_CHARS_MAX
  expect(largest).toBeLessThan(SESSION_UNITS_MAX)
})
