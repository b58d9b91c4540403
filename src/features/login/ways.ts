import { appError } from '../../core/errors.ts'
import type { SignInWay } from '../../core/sign-in-ways.ts'

/** Which ways the server allows now. */
export const createWays = (allowed: () => readonly SignInWay[]) => ({
  has: (way: SignInWay): boolean => allowed().includes(way),

  /** Throws `login_method_unknown`. */
  check(way: SignInWay): void {
    if (!allowed().includes(way)) throw appError('login_method_unknown')
  },
})

export type SignInWays = ReturnType<typeof createWays>
