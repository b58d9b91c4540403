import { TURN_BEGINS_MS_MAX, TURN_TOKENS_HELD } from '../../core/limits/machine.ts'
import type { Principal } from '../../core/principal.ts'
import { subjectOf } from '../../core/subject.ts'
import { estimateTokens } from '../../core/text.ts'
import type { Fence, TurnOrder } from '../../storage/shared-state.ts'
import { checkImageData, checkImageHosts, type ImageGuard } from '../../upstream/egress/images.ts'
import type { Asks } from '../asks/service.ts'
import type { Devices } from '../devices/service.ts'
import type { TurnFiles } from '../files/turn-files.ts'
import type { Access } from '../knowledge/collections/access.ts'
import type { Sessions } from '../sessions/service.ts'
import type { Admission } from '../usage/admission.ts'
import type { Usage } from '../usage/service.ts'
import type { ChannelChoice } from './channel-choice.ts'
import { type Brought, type Emit, errorEvent } from './events.ts'
import { explained } from './explained.ts'
import type { ModelAnswer } from './model-loop.ts'
import type { OpenTurns, TurnGuard } from './open-turns.ts'
import type { TurnConfigStore } from './store.ts'
import { Trace } from './trace.ts'
import { runTurn } from './turn.ts'
import {
  collectionsOf,
  resolveTurn,
  type TurnRequest,
  withDraft,
  withoutTraces,
} from './turn-config.ts'
import type { TurnCounts } from './turn-counts.ts'
import type { TurnOptions } from './turn-parts.ts'
import { withVariables } from './variables.ts'

export interface AgentOptions extends TurnOptions {
  readonly configs: TurnConfigStore
  readonly channelOf: (tenantId: string) => Promise<ChannelChoice>
  readonly admit: Admission['admit']
  readonly openTurns: OpenTurns
  readonly turnOrder: TurnOrder
  /** Judges the hosts of image links. */
  readonly imageGuard: ImageGuard
  readonly sessions: Pick<Sessions, 'checkTurn'>
  readonly files: TurnFiles
  readonly turnCounts: Pick<TurnCounts, 'began' | 'failed'>
  readonly devices: Pick<Devices, 'noteSeen'>
  readonly asks: Pick<Asks, 'begin'>
  readonly usage: Pick<Usage, 'countAsApp' | 'countTokens' | 'countTurn' | 'stored'>
  readonly access: Pick<Access, 'narrow'>
}

const NO_NAMES = { timeZone: null, language: null, appName: null, deviceName: null, email: null }

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
  /** Gives back what it holds; for a turn that is not run. */
  drop(): void
}

/** The agent: turns of a session run one after another, sessions side by side. */
export function createAgent(options: AgentOptions) {
  const { configs, channelOf, openTurns, turnOrder, log } = options

  return {
    /** Throws what `openTurn` would throw for the session, images, collections and files named. */
    check: (principal: Principal, request: TurnRequest, sessionId: string | null) =>
      checkNamed(options, principal, request, sessionId),

    /** `sessionId` was checked by the caller; null is a turn without memory. Throws as `admit`. */
    async openTurn(
      principal: Principal,
      request: TurnRequest,
      sessionId: string | null,
    ): Promise<OpenedTurn> {
      const { tenantId, appId } = principal
      await checkNamed(options, principal, request, sessionId)
      // The key may have been revoked while hosts were resolved or speech was recognised.
      let { label } = await channelOf(tenantId)
      const release = await options.admit(principal, tokensOf(request), request.budget)
      count(options, principal)
      const door = request.door ?? 'agent'
      options.turnCounts.began(door)
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
        const stored = await configs.load(tenantId, appId, personaId, principal)
        const config = draft ? withDraft(stored, draft) : stored
        const channel = await channelOf(tenantId)
        label = channel.label
        begun.resolve()
        const contextOf = () => ({
          ...NO_NAMES,
          ...stored.named,
          now: options.clock.now(),
          values: request.variables ?? {},
        })
        const fill = (prompt: string) => withVariables(prompt, contextOf)
        const configured = resolveTurn(config, request, fill)
        const resolved = request.temporary ? withoutTraces(configured) : configured
        trace = new Trace(options.clock.steady)
        const subject = subjectOf(principal, request.subject)
        const asking = { principal, sessionId, signal, emit }
        const person = request.interactive ? options.asks.begin(asking) : null
        const said = { principal, sessionId, request, subject }
        const turn = { ...said, resolved, channel, trace, person, confirm, fence }
        return runTurn(options, turn, person?.signal ?? signal, emit)
      }

      function end(): void {
        release()
        begun.resolve()
        over.resolve({ firstAt: trace?.firstTextAt ?? null, endedAt: options.clock.steady() })
      }

      return {
        sessionId,
        drop() {
          cancelRelease()
          end()
        },
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
            if (client.aborted) return null
            options.turnCounts.failed(door)
            const event = errorEvent(error, log, broughtBy(request))
            const failed = { principal, question: request.text, failedOn: trace?.failedOn ?? null }
            await emit([request.explains ? explained(event, error, failed) : event])
            return null
          } finally {
            end()
          }
        },
      }
    },
  }
}

/** Tokens that a turn holds while it is open. */
function tokensOf({ text, conversation }: TurnRequest): number {
  const said = conversation ? conversation.messages.map(({ content }) => content) : [text]
  return estimateTokens(said) + TURN_TOKENS_HELD
}

/** Throws 400, 403 and 404 for what the turn names and may not have. */
async function checkNamed(
  options: AgentOptions,
  principal: Principal,
  request: TurnRequest,
  sessionId: string | null,
): Promise<void> {
  const { sessions, imageGuard, clock, files } = options
  if (sessionId !== null) await sessions.checkTurn(principal, sessionId)
  const images = imagesOf(request)
  if (images.length > 0) {
    await checkImageData(images, clock.steady)
    await checkImageHosts(images, principal.tenantId, imageGuard)
  }
  await checkCollections(options, principal, request)
  await files.check(principal, sessionId, request.files ?? [])
}

/** Throws 404 for a collection that the turn would not see. */
async function checkCollections(
  { configs, access }: AgentOptions,
  { tenantId, appId }: Principal,
  { collections, draft }: TurnRequest,
): Promise<void> {
  if (!collections || collections.length === 0) return
  const stored = await configs.load(tenantId, appId, null)
  const seen = collectionsOf(draft ? withDraft(stored, draft) : stored)
  await access.narrow({ tenantId, collections: seen }, collections)
}

/** Counts what only the turn tells about the caller, and not its key. */
function count({ devices, usage }: AgentOptions, principal: Principal): void {
  const { kind, tenantId, appId, deviceId, userId, shareId } = principal
  if (deviceId !== null) devices.noteSeen(tenantId, deviceId)
  if (kind === 'general' && appId) usage.countAsApp(principal)
  if (userId !== null || shareId !== undefined) usage.countTurn(principal)
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
