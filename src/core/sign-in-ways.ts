/** How people may sign in, by the words of MB_SIGNIN. */
export const SIGN_IN_WAYS = ['email', 'oauth', 'passkey'] as const
export type SignInWay = (typeof SIGN_IN_WAYS)[number]
