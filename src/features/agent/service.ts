import { appError } from '../../core/errors.ts'
import type { Principal } from '../../core/principal.ts'
import { createSemaphore } from '../../core/semaphore.ts'
import { type Emit, errorEvent } from './events.ts'
import { type AgentRequest, checkImageData, checkImageHosts, type ImageGuard } from './model.ts'
import type { OpenTurns, TurnGuard } from './open-turns.ts'
import type { TurnConfigStore } from './store.ts'
import { type ChannelChoice, runTurn, type TurnOptions } from './turn.ts'
import { resolveTurn } from './turn-config.ts'

export interface AgentOptions extends TurnOptions {
  readonly configs: TurnConfigStore
  readonly channelOf: (tenantId: string) => Promise<ChannelChoice>
  /** Whether the credential was not revoked since the request was let in. */
  readonly stillValid: (principal: Principal) => Promise<boolean>
  readonly openTurns: OpenTurns
  /** Judges the hosts of image links. */
  readonly imageGuard: ImageGuard
  /** Called for each turn that is about to begin, without being waited for. */
  readonly onTurn: (principal: Principal) => void
}

/** A turn that was let in and has not begun. */
export interface OpenedTurn {
  readonly sessionId: string
  /** The channel that the tenant has configured; decided anew when the turn begins. */
  readonly channel: ChannelChoice['label']
  /**
   * Resolves when the turn begins, which may be after other turns of its session, or when it ends
   * without having begun.
   */
  readonly begun: Promise<void>
  /** Never throws: an error is told as an `error` event, or not at all when the client has left. */
  run(signal: AbortSignal, emit: Emit): Promise<void>
}

/** The agent: turns of a session run one after another, sessions side by side. */
export function createAgent(options: AgentOptions) {
  const { configs, channelOf, stillValid, openTurns, imageGuard, onTurn, log } = options
  const sessions = createSemaphore({ perKey: 1 })

  return {
    /** `sessionId` was checked by the caller. Throws `invalid_key` for a revoked credential. */
    async openTurn(
      principal: Principal,
      request: AgentRequest,
      sessionId: string,
    ): Promise<OpenedTurn> {
      const { tenantId, appId } = principal
      await checkImageData(request.images, options.clock.steady)
      await checkImageHosts(request.images, tenantId, imageGuard)
      // The key may be revoked by now: hosts were resolved, or speech was recognised before.
      if (!(await stillValid(principal))) throw appError('invalid_key')
      onTurn(principal)
      let { label } = await channelOf(tenantId)
      const begun = Promise.withResolvers<void>()

      /** Decides by what is configured now: turns before this one may have taken long. */
      async function begin({ signal, confirm }: TurnGuard, emit: Emit): Promise<void> {
        await confirm()
        const config = await configs.load(tenantId, appId, request.persona_id ?? null)
        const channel = await channelOf(tenantId)
        label = channel.label
        begun.resolve()
        const resolved = resolveTurn(config, request)
        const turn = { principal, sessionId, request, resolved, channel, confirm }
        await runTurn(options, turn, signal, emit)
      }

      return {
        sessionId,
        get channel() {
          return label
        },
        begun: begun.promise,
        async run(client, emit) {
          try {
            await openTurns.run(principal, client, (guard) =>
              sessions.run(`${tenantId}/${sessionId}`, () => begin(guard, emit), guard.signal),
            )
          } catch (error) {
            if (!client.aborted) await emit([errorEvent(error, log)])
          } finally {
            begun.resolve()
          }
        },
      }
    },
  }
}

export type Agent = ReturnType<typeof createAgent>
