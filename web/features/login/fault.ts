import type { Key } from '../../i18n/index.tsx'

/** The reasons of the server for a failed provider login. */
const WORDS = [
  'denied',
  'expired',
  'provider_unavailable',
  'signup_closed',
  'unverified_email',
] as const

/** The text for `?error=` of the sign-in page; one for all unknown values, which anyone can set. */
export function loginFault(word: unknown): Key {
  const known = WORDS.find((one) => one === word)
  return known ? `login.oauth.${known}` : 'login.oauth.failed'
}
