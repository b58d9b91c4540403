import { expect, test } from 'bun:test'
import { loginFault } from './fault.ts'

test('a login fault has its own sentence when known, else a general one', () => {
  expect(loginFault('signup_closed')).toBe('login.oauth.signup_closed')
  expect(loginFault('unverified_email')).toBe('login.oauth.unverified_email')
  for (const word of ['failed', 'toString', '<b>', '', null, undefined, 7]) {
    expect(loginFault(word)).toBe('login.oauth.failed')
  }
})
