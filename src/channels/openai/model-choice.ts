import type { Clock } from '../../core/clock.ts'
import { httpFailure } from '../net/http-failure.ts'
import type { UpstreamCall } from '../net/upstream-call.ts'
import { firstChatModel } from './models.ts'
import type { Transport } from './transport.ts'

/** Which model a request goes to when it names none: the default, or the first one listed. */
export function createModelChoice(transport: Transport, clock: Clock, defaultModel: string | null) {
  let listed: string | null = null

  return {
    /**
     * Null when the upstream lists none: many local servers then answer with the loaded one. Throws
     * `ChannelFailure` when the upstream cannot be reached, or the caller's abort reason.
     */
    async choose(call: UpstreamCall, named: string | null): Promise<string | null> {
      const known = named ?? defaultModel ?? listed
      if (known !== null) return known
      const response = await transport.list(call)
      if (!response.ok) {
        const { failure } = await httpFailure(response, clock.now())
        call.throwIfAborted()
        if (failure.reason === 'upstream_4xx') return null
        throw failure
      }
      try {
        listed = await firstChatModel(response)
      } catch (error) {
        throw call.explain(error)
      }
      return listed
    },

    /** The upstream does not know its model any more: look again next time. */
    forget(): void {
      listed = null
    },
  }
}
