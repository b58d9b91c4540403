import type { Clock } from '../../core/clock.ts'
import type { ErrorCode } from '../../core/errors.ts'
import type { Principal } from '../../core/principal.ts'
import type { AgentCheckResponse } from './model.ts'
import type { Agent } from './service.ts'
import type { TurnRequest } from './turn-config.ts'

/** A model that reasons first may use them all for that, which counts as an answer. */
const TOKENS_MAX = 32

const SAID = 'Reply with one word: ok'

/** A turn without knowledge base, tools and memory: it tests only the model. */
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
    showThinking: false,
    fallbackOnlyWhileSilent: false,
  },
}

interface Seen {
  first_ms: number | null
  /** Why the platform took over; null when it did not. */
  reason: string | null
  failure: ErrorCode | null
}

/**
 * Runs one tiny turn that stores nothing and reports whether the tenant's channel answered it. An
 * answer of the built-in responder, or of the platform in place of the tenant's own channel, does
 * not count.
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
