import { expect, test } from 'bun:test'
import { TOOLS, toolName } from './tool-words.ts'

/** Offered by switches of their own, see "opt-in tools" in the manual. */
const SWITCHED = [
  ...['remember', 'forget', 'recall', 'set_reminder', 'list_reminders', 'cancel_reminder'],
  ...['ask_user', 'read_file'],
]

test('every tool of the product has a name that people read', () => {
  for (const name of [...TOOLS, ...SWITCHED]) {
    expect(toolName(name, 'en')).toMatch(/^[A-Z][a-z ]+$/)
    expect(toolName(name, 'zh')).toMatch(/\p{Script=Han}/u)
  }
})

test('a tool of a server is told with it, and others as they are called', () => {
  expect(toolName('home_lab__turn_on', 'en')).toBe('turn_on (home_lab)')
  expect(toolName('their_own', 'zh')).toBe('their_own')
  expect(toolName('constructor', 'en')).toBe('constructor')
})
