import type { Clock } from '../../core/clock.ts'
import { charCount } from '../../core/text.ts'
import { outcomeOf, type Stage } from '../../speech/stages.ts'

const NO_TURN = { sessionId: null, channel: null } as const

/** The step of speech for the request log: the time to its first sound. */
export function createSpeechStage(
  { clock }: { readonly clock: Clock },
  onStage: (stage: Stage) => void,
) {
  let askedAt: number | null = null
  let soundedAt: number | null = null
  let sounds = 0
  let textChars = 0
  let failure: unknown = null
  return {
    asked(text: string): void {
      askedAt ??= clock.steady()
      textChars += charCount(text)
    },
    sounded(): void {
      soundedAt ??= clock.steady()
      sounds++
    },
    /** How many sentences were begun to be heard. */
    sounds: () => sounds,
    /** Records a failure; the first one counts, null is none. */
    failed(error: unknown): void {
      failure ??= error
    },
    /** To be called once, because a turn has one row of speech. */
    end(): void {
      if (askedAt === null) return
      const latencyMs = Math.round((soundedAt ?? clock.steady()) - askedAt)
      onStage({
        endpoint: '/v1/tts',
        ...outcomeOf(failure),
        latencyMs,
        textChars,
        ...NO_TURN,
      })
    },
  }
}

export type SpeechStage = ReturnType<typeof createSpeechStage>
