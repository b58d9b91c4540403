import type { Clock } from '../../../core/clock.ts'
import { randomToken, sha256Hex } from '../../../core/crypto.ts'
import { PASSKEY_CHALLENGE_SECONDS_MAX } from '../../../core/limits/contract.ts'
import { PASSKEY_CHALLENGES_MAX } from '../../../core/limits/machine.ts'
import type { OpenCodes } from '../../../storage/shared-state.ts'

/** What a challenge was made for: signing in, or adding a passkey to a person. */
const purposeOf = (userId: string | null) => (userId === null ? 'sign in' : `add ${userId}`)

/** Challenges that authenticators sign: of one browser, for one purpose, for one try. */
export function createChallenges(openCodes: OpenCodes, clock: Pick<Clock, 'now'>) {
  const codes = openCodes('passkey', {
    ttlMs: PASSKEY_CHALLENGE_SECONDS_MAX * 1000,
    countMax: PASSKEY_CHALLENGES_MAX,
  })

  return {
    /** `browser` is the secret of a cookie; `owner` is whom the challenge counts for. */
    async issue(userId: string | null, owner: string) {
      const browser = randomToken(32)
      const challenge = randomToken(32)
      const until = clock.now() + PASSKEY_CHALLENGE_SECONDS_MAX * 1000
      await codes.put(sha256Hex(browser), [purposeOf(userId), challenge, until].join('\n'), owner)
      return { browser, challenge }
    },

    /** Spends the challenge of this browser; null when there is none for this purpose. */
    async take(browsers: readonly string[], userId: string | null): Promise<string | null> {
      for (const browser of browsers) {
        const [purpose, challenge, until] =
          (await codes.take(sha256Hex(browser)))?.split('\n') ?? []
        if (challenge === undefined) continue
        // The clock of a shared database need not be this one's.
        return purpose === purposeOf(userId) && Number(until) > clock.now() ? challenge : null
      }
      return null
    },
  }
}

export type Challenges = ReturnType<typeof createChallenges>
