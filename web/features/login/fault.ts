import type { Key } from '../../i18n/index.tsx'

/** The words by which the server says why a login by a provider came to nothing. */
const WORDS = [
  'denied',
  'expired',
  'provider_unavailable',
  'signup_closed',
  'unverified_email',
] as const

/** What to say about `?error=` of the sign-in page. Anyone can write there, so only ours count. */
export function loginFault(word: unknown): Key {
  const known = WORDS.find((one) => one === word)
  return known ? `login.oauth.${known}` : 'login.oauth.failed'
}
