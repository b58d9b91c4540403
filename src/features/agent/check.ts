import type { Clock } from '../../core/clock.ts'
import type { ErrorCode } from '../../core/errors.ts'
import type { Principal } from '../../core/principal.ts'
import type { AgentCheckResponse } from './model.ts'
import type { Agent } from './service.ts'
import type { TurnRequest } from './turn-config.ts'

/** A model that thinks first may spend them on thoughts: it has answered all the same. */
const TOKENS_MAX = 32

const SAID = 'Reply with one word: ok'

/** Without knowledge, tools or memory: nothing but the model is tried. */
const REQUEST: TurnRequest = {
  text: SAID,
  images: [],
  kb: false,
  conversation: {
    messages: [{ role: 'user', content: SAID }],
    context: '',
    temperature: null,
    thinking: false,
    clientTools: [],
    toolChoice: 'none',
    sampling: { maxTokens: TOKENS_MAX },
    fallbackOnlyWhileSilent: false,
  },
}

interface Seen {
  first_ms: number | null
  /** Of a takeover. */
  reason: string | null
  failure: ErrorCode | null
}

/**
 * Has one tiny turn that stores nothing and tells whether the tenant's channel answered it. It did
 * not where the built-in responder did, or the platform in place of the tenant's own.
 */
export const createAgentCheck =
  (agent: Pick<Agent, 'openTurn'>, clock: Pick<Clock, 'steady'>) =>
  async (principal: Principal, signal: AbortSignal): Promise<AgentCheckResponse> => {
    const startedAt = clock.steady()
    const turn = await agent.openTurn(principal, REQUEST, null)
    const seen = { first_ms: null, reason: null, failure: null } as Seen
    const answer = await turn.run(signal, (events) => {
      for (const event of events) {
        if (event.type === 'llm_delta') seen.first_ms ??= Math.round(clock.steady() - startedAt)
        if (event.type === 'provider_fallback') seen.reason = event.reason
        if (event.type === 'error') seen.failure = event.code
      }
      return undefined
    })
    const { first_ms } = seen
    if (!answer) {
      const reason = seen.failure ?? seen.reason ?? 'client_closed'
      return { ok: false, channel: turn.channel, model: null, first_ms, reason }
    }
    const { label: channel, llm } = answer.channel
    const reason = seen.reason ?? (llm.name === 'offline' ? 'offline_responder' : null)
    return { ok: reason === null, channel, model: answer.model, first_ms, reason }
  }
