import { ChannelFailure } from '../../channels/ports/failure.ts'
import { MailFailure } from '../../channels/ports/mail.ts'
import type { Clock } from '../../core/clock.ts'
import { ToolFailure } from '../../tools/tool.ts'
import type { SystemTestResponse } from './model.ts'
import type { SystemPart } from './settings.ts'

/** Uses a part once; resolves with what answered, and with null where nothing is set. */
export type Try = (signal: AbortSignal, email: string) => Promise<string | null>

export interface TrialOptions {
  readonly clock: Clock
  readonly tries: Readonly<Record<SystemPart, Try>>
}

/** A local recogniser first loads its model. */
const TRY_MS_MAX = 30_000

/** Tries the parts of the server as they are set now (contract-2, section 8). */
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

/** In words of ours: an upstream's own may hold a key, or what was sent. */
function reasonOf(error: unknown): string {
  if (error instanceof ChannelFailure) return error.phrase
  if (error instanceof ToolFailure) return error.message
  if (error instanceof MailFailure) return [error.code, error.reply ?? ''].join(' ').trim()
  throw error
}
