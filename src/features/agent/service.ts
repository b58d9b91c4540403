import { appError } from '../../core/errors.ts'
import { TURN_BEGINS_MS_MAX, TURN_TOKENS_HELD } from '../../core/limits/machine.ts'
import type { Principal } from '../../core/principal.ts'
import { estimateTokens } from '../../core/text.ts'
import type { Fence, TurnOrder } from '../../storage/shared-state.ts'
import { checkImageData, checkImageHosts, type ImageGuard } from '../../upstream/egress/images.ts'
import type { Devices } from '../devices/service.ts'
import type { Keys } from '../keys/service.ts'
import type { Budgets, Usage } from '../usage/service.ts'
import { type Brought, type Emit, errorEvent } from './events.ts'
import type { ModelAnswer } from './model-loop.ts'
import type { OpenTurns, TurnGuard } from './open-turns.ts'
import type { TurnConfigStore } from './store.ts'
import { Trace } from './trace.ts'
import { type ChannelChoice, runTurn, type TurnOptions } from './turn.ts'
import { resolveTurn, type TurnRequest, withDraft } from './turn-config.ts'

export interface AgentOptions extends TurnOptions {
  readonly configs: TurnConfigStore
  readonly channelOf: (tenantId: string) => Promise<ChannelChoice>
  readonly keys: Pick<Keys, 'budgetOf'>
  readonly budgets: Pick<Budgets, 'hold'>
  readonly openTurns: OpenTurns
  readonly turnOrder: TurnOrder
  /** Judges the hosts of image links. */
  readonly imageGuard: ImageGuard
  readonly devices: Pick<Devices, 'noteSeen'>
  readonly usage: Pick<Usage, 'countAsApp' | 'countTokens'>
}

/** A turn that was admitted and has not begun. */
export interface OpenedTurn {
  /** Null for a turn without memory. */
  readonly sessionId: string | null
  /** The channel that the tenant has configured now; it is decided again when the turn begins. */
  readonly channel: ChannelChoice['label']
  /**
   * Resolves when the turn begins, which may be after other turns of its session, or when it ends
   * without having begun.
   */
  readonly begun: Promise<void>
  /** Resolves when the turn is over, with the time of its first word on the steady clock. */
  readonly over: Promise<{ readonly firstAt: number | null; readonly endedAt: number }>
  /**
   * Resolves with the answer that the events carried. Never throws: an error becomes an `error`
   * event, or nothing when the client has left, and the result is null.
   */
  run(signal: AbortSignal, emit: Emit): Promise<ModelAnswer | null>
}

/** The agent: turns of a session run one after another, sessions side by side. */
export function createAgent(options: AgentOptions) {
  const { configs, channelOf, openTurns, turnOrder, imageGuard, log } = options

  return {
    /** `sessionId` was checked by the caller; null is a turn without memory. Throws as `admit`. */
    async openTurn(
      principal: Principal,
      request: TurnRequest,
      sessionId: string | null,
    ): Promise<OpenedTurn> {
      const { tenantId, appId } = principal
      const images = imagesOf(request)
      if (images.length > 0) {
        await checkImageData(images, options.clock.steady)
        await checkImageHosts(images, tenantId, imageGuard)
      }
      // The key may have been revoked while hosts were resolved or speech was recognised.
      let { label } = await channelOf(tenantId)
      const release = await admit(options, principal, request)
      count(options, principal)
      const cancelRelease = options.clock.after(TURN_BEGINS_MS_MAX, release)
      const begun = Promise.withResolvers<void>()
      const over = Promise.withResolvers<Awaited<OpenedTurn['over']>>()
      let trace: Trace | null = null

      /** Uses what is configured now: the turns before this one may have taken long. */
      async function begin(
        { signal, confirm }: TurnGuard,
        emit: Emit,
        fence: Fence,
      ): Promise<ModelAnswer> {
        await confirm()
        const { draft } = request
        const personaId = (draft ? draft.persona_id : request.persona_id) ?? null
        const stored = await configs.load(tenantId, appId, personaId)
        const config = draft ? withDraft(stored, draft) : stored
        const channel = await channelOf(tenantId)
        label = channel.label
        begun.resolve()
        const resolved = resolveTurn(config, request)
        trace = new Trace(options.clock.steady)
        const turn = { principal, sessionId, request, resolved, channel, trace, confirm, fence }
        return runTurn(options, turn, signal, emit)
      }

      return {
        sessionId,
        get channel() {
          return label
        },
        begun: begun.promise,
        over: over.promise,
        async run(client, emit) {
          cancelRelease()
          try {
            return await openTurns.run(principal, client, (guard) => {
              const inTurn = (fence: Fence) => begin(guard, emit, fence)
              return sessionId === null
                ? inTurn([])
                : turnOrder.run(tenantId, sessionId, inTurn, guard.signal)
            })
          } catch (error) {
            if (!client.aborted) await emit([errorEvent(error, log, broughtBy(request))])
            return null
          } finally {
            release()
            begun.resolve()
            over.resolve({ firstAt: trace?.firstTextAt ?? null, endedAt: options.clock.steady() })
          }
        },
      }
    },
  }
}

/**
 * Admits a turn; the returned function gives back what it holds of the budget. Throws `invalid_key`
 * for a key that was revoked since the request was admitted, and `budget_spent` for one without
 * tokens left; the console needs no key.
 */
async function admit(
  { keys, budgets }: AgentOptions,
  { tenantId, keyId }: Principal,
  { text, conversation }: TurnRequest,
): Promise<() => void> {
  if (keyId === null) return () => {}
  const dailyTokens = await keys.budgetOf(tenantId, keyId)
  if (dailyTokens === null) throw appError('invalid_key')
  if (dailyTokens === 0) return () => {}
  const said = conversation ? conversation.messages.map(({ content }) => content) : [text]
  const tokens = estimateTokens(said) + TURN_TOKENS_HELD
  return budgets.hold({ tenantId, keyId, dailyTokens }, tokens)
}

/** Counts what only the turn tells about the caller, and not its key. */
function count({ devices, usage }: AgentOptions, principal: Principal): void {
  const { kind, tenantId, appId, deviceId } = principal
  if (deviceId !== null) devices.noteSeen(tenantId, deviceId)
  if (kind === 'general' && appId) usage.countAsApp(principal)
}

const broughtBy = ({ conversation }: TurnRequest): Brought => ({
  messages: conversation !== undefined,
  tools: conversation !== undefined && conversation.clientTools.length > 0,
})

/** All images that the model is sent. */
const imagesOf = ({ images, conversation }: TurnRequest): readonly string[] =>
  conversation
    ? conversation.messages.flatMap((message) =>
        message.role === 'user' ? (message.images ?? []) : [],
      )
    : images

export type Agent = ReturnType<typeof createAgent>
