import { expect, test } from 'bun:test'
import { loginFault } from './fault.ts'

test('says what happened where the server named it, and one sentence for all else', () => {
  expect(loginFault('signup_closed')).toBe('login.oauth.signup_closed')
  expect(loginFault('unverified_email')).toBe('login.oauth.unverified_email')
  for (const word of ['failed', 'toString', '<b>', '', null, undefined, 7]) {
    expect(loginFault(word)).toBe('login.oauth.failed')
  }
})
