import { expect, test } from 'bun:test'
import { printed } from './doctor/finding.ts'
import { banner, printable } from './output.ts'

const HOSTILE = 'm\u001b[31m\u001b]0;title\u0007\n  Address    http://evil\u009b2J\u202e'

test('printable text keeps lines, tabs and every language', () => {
  expect(printable('一\t二\nعربى 😀👩‍👩‍👧\n')).toBe('一\t二\nعربى 😀👩‍👩‍👧\n')
  expect(printable(HOSTILE)).toBe('m?[31m?]0;title?\n  Address    http://evil?2J?')
})

test('the banner shows a hostile model name on its own line, without control characters', () => {
  const facts = { url: 'u', data: 'd', channel: HOSTILE, embedding: 'e', voice: 'v', sign_in: 's' }
  const lines = banner(facts, '1.0.0', false).split('\n')
  expect(lines.filter((line) => line.startsWith('  Address'))).toEqual(['  Address    u'])
  expect(lines.join('')).not.toMatch(/[\p{Cc}\u202e]/u)
})

test('the banner of a new server says who will run it', () => {
  const facts = { url: 'u', data: 'd', channel: 'c', embedding: 'e', voice: 'v', sign_in: 's' }
  expect(banner(facts, '1.0.0', true)).toContain('The first person to sign in runs this server')
  expect(banner(facts, '1.0.0', false)).not.toContain('first person')
})

test('a finding of the doctor cannot look like another one', () => {
  const lines = printed([{ name: 'Model', level: 'warn', text: HOSTILE, mend: HOSTILE }])
  expect(lines.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u)
  expect(lines.trim().split('\n')).toHaveLength(4)
})
