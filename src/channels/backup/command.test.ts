import { expect, test } from 'bun:test'
import { endOf } from './command.ts'

const MINUTE_MS = 60_000
const killed = { signal: 'SIGKILL', code: 137, sentence: '' }

test.each([
  [{ signal: null, code: 1, sentence: 'the disk is full', tookMs: 1 }, 'the disk is full'],
  [{ signal: null, code: 3, sentence: '', tookMs: 1 }, 'exit 3'],
  [{ ...killed, tookMs: 30 * MINUTE_MS }, 'it took more than 30 minutes'],
  [{ ...killed, tookMs: MINUTE_MS }, 'it was ended by SIGKILL; the machine may lack memory'],
  [{ ...killed, signal: 'SIGSEGV', tookMs: MINUTE_MS }, 'it was ended by SIGSEGV'],
])('a backup that was ended says by what (%#)', (end, words) => {
  expect(endOf(end)).toBe(words)
})
