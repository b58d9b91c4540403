import type { Clock } from '../../core/clock.ts'
import { ToolFailure } from '../../tools/tool.ts'
import { ChannelFailure } from '../../upstream/ports/failure.ts'
import { MailFailure } from '../../upstream/ports/mail.ts'
import type { SystemTestResponse } from './model.ts'
import type { SystemPart } from './settings.ts'

/** Uses a part once. Resolves with what answered, or with null when the part is not set. */
export type Try = (signal: AbortSignal, email: string) => Promise<string | null>

export interface TrialOptions {
  readonly clock: Clock
  readonly tries: Readonly<Record<SystemPart, Try>>
}

/** Long enough for a local recogniser to load its model. */
const TRY_MS_MAX = 30_000

/** Tries the upstreams of the server with the current settings. */
export function createTrial({ clock, tries }: TrialOptions) {
  /** `email` is the operator's own, to which the mail goes. */
  return async function trial(
    part: SystemPart,
    email: string,
    signal: AbortSignal,
  ): Promise<SystemTestResponse> {
    const start = clock.steady()
    const late = new AbortController()
    const cancel = clock.after(TRY_MS_MAX, () => late.abort(new Error('timeout')))
    const until = AbortSignal.any([signal, late.signal])
    const result = (ok: boolean, text: string): SystemTestResponse => ({
      ok,
      latency_ms: Math.round(clock.steady() - start),
      text,
    })
    try {
      const answer = await tries[part](until, email)
      return answer === null ? result(false, 'not configured') : result(true, answer)
    } catch (error) {
      signal.throwIfAborted()
      return result(false, late.signal.aborted ? 'timeout' : reasonOf(error))
    } finally {
      cancel()
    }
  }
}

export type Trial = ReturnType<typeof createTrial>

/** The reason in our words: an upstream's text may contain a key or the request. */
function reasonOf(error: unknown): string {
  if (error instanceof ChannelFailure) return error.phrase
  if (error instanceof ToolFailure) return error.message
  if (error instanceof MailFailure) return [error.code, error.reply ?? ''].join(' ').trim()
  throw error
}
