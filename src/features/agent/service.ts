import { KEY_REFUSED, unauthorized } from '../../core/errors.ts'
import type { Principal } from '../../core/principal.ts'
import type { Tell } from './events.ts'
import type { AgentRequest } from './model.ts'
import { resolveTurn } from './resolve.ts'
import type { TurnContextStore } from './store.ts'
import { type ChannelChoice, performTurn, type Turn, type TurnOptions } from './turn.ts'
import { createTurnQueue } from './turn-queue.ts'

export interface AgentOptions extends TurnOptions {
  readonly contexts: TurnContextStore
  readonly channelOf: (tenantId: string) => Promise<ChannelChoice>
  /** Whether the credential was not revoked since the request was let in. */
  readonly stillValid: (principal: Principal) => Promise<boolean>
  /** Called for each turn that is about to begin, without being waited for. */
  readonly onTurn: (principal: Principal) => void
}

/** A turn that is ready to run; `channel` is known beforehand, for the request log. */
export interface PreparedTurn {
  readonly sessionId: string
  readonly channel: 'byo' | 'platform'
  /** What goes wrong with a model is told as an `error` event. */
  run(signal: AbortSignal, tell: Tell): Promise<void>
}

/** The agent: one turn at a time in a session, sessions side by side. */
export function createAgent(options: AgentOptions) {
  const { contexts, channelOf, stillValid, onTurn } = options
  const queue = createTurnQueue()

  /** After turns that may have taken long. */
  async function performLater(turn: Turn, signal: AbortSignal, tell: Tell): Promise<void> {
    if (await stillValid(turn.principal)) return performTurn(options, turn, signal, tell)
    return tell([{ type: 'error', message: KEY_REFUSED }])
  }

  return {
    /** Loads what decides the turn; `sessionId` was checked by the caller. */
    async prepare(
      principal: Principal,
      request: AgentRequest,
      sessionId: string,
    ): Promise<PreparedTurn> {
      // What comes before a turn, such as recognition, may have taken its time.
      if (!(await stillValid(principal))) throw unauthorized(KEY_REFUSED)
      onTurn(principal)
      const { tenantId, appId } = principal
      const context = await contexts.load(tenantId, appId, request.persona_id ?? null)
      const channel = await channelOf(tenantId)
      const resolved = resolveTurn(context, request)
      const turn = { principal, sessionId, request, resolved, channel }
      return {
        sessionId,
        channel: channel.label,
        run: (signal, tell) =>
          queue.run(`${tenantId}/${sessionId}`, signal, (waited) =>
            waited ? performLater(turn, signal, tell) : performTurn(options, turn, signal, tell),
          ),
      }
    },
  }
}

export type Agent = ReturnType<typeof createAgent>
