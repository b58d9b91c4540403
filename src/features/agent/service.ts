import { appError } from '../../core/errors.ts'
import type { Principal } from '../../core/principal.ts'
import type { Tell } from './events.ts'
import { checkImageHosts, type ImageGuard } from './image.ts'
import type { AgentRequest } from './model.ts'
import { resolveTurn } from './resolve.ts'
import type { TurnContextStore } from './store.ts'
import { tellFailure } from './tell-failure.ts'
import { createTextRoom } from './text-room.ts'
import { type ChannelChoice, performTurn, type Turn, type TurnOptions } from './turn.ts'
import { createTurnQueue } from './turn-queue.ts'

export interface AgentOptions extends Omit<TurnOptions, 'room'> {
  readonly contexts: TurnContextStore
  readonly channelOf: (tenantId: string) => Promise<ChannelChoice>
  /** Whether the credential was not revoked since the request was let in. */
  readonly stillValid: (principal: Principal) => Promise<boolean>
  /** Judges the hosts of image links. */
  readonly imageGuard: ImageGuard
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
  const { contexts, channelOf, stillValid, imageGuard, onTurn } = options
  const queue = createTurnQueue()
  const parts = { ...options, room: createTextRoom() }

  /** What the tenant has configured for a turn. */
  async function configured({ tenantId, appId }: Principal, request: AgentRequest) {
    const context = await contexts.load(tenantId, appId, request.persona_id ?? null)
    return { resolved: resolveTurn(context, request), channel: await channelOf(tenantId) }
  }

  /** The turn with what is configured by now, after turns that may have taken long. */
  async function renewed(turn: Turn): Promise<Turn> {
    const { principal, request } = turn
    if (!(await stillValid(principal))) throw appError('invalid_key')
    return { ...turn, ...(await configured(principal, request)) }
  }

  async function perform(turn: Turn, waited: boolean, signal: AbortSignal, tell: Tell) {
    try {
      await performTurn(parts, waited ? await renewed(turn) : turn, signal, tell)
    } catch (error) {
      await tellFailure(error, options.log, signal, tell)
    }
  }

  return {
    /** Loads what decides the turn; `sessionId` was checked by the caller. */
    async prepare(
      principal: Principal,
      request: AgentRequest,
      sessionId: string,
    ): Promise<PreparedTurn> {
      await checkImageHosts(request.images, principal.tenantId, imageGuard)
      // What comes before a turn, such as recognition, may have taken its time.
      if (!(await stillValid(principal))) throw appError('invalid_key')
      onTurn(principal)
      const turn = { principal, sessionId, request, ...(await configured(principal, request)) }
      return {
        sessionId,
        channel: turn.channel.label,
        run: (signal, tell) =>
          queue.run(`${principal.tenantId}/${sessionId}`, signal, (waited) =>
            perform(turn, waited, signal, tell),
          ),
      }
    },
  }
}

export type Agent = ReturnType<typeof createAgent>
