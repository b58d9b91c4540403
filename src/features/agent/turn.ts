import type { Clock } from '../../core/clock.ts'
import { appError } from '../../core/errors.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import { bytesOfText, type MemoryBudget, type MemoryShare } from '../../core/memory-budget.ts'
import type { Meters } from '../../core/meters.ts'
import type { Principal } from '../../core/principal.ts'
import type { Fence } from '../../storage/shared-state.ts'
import { createToolBox } from '../../tools/tool-box.ts'
import type { ForcedTool, Llm, LlmMessage } from '../../upstream/ports/llm.ts'
import type { KbHit } from '../knowledge/model.ts'
import type { Kb, Retrieval } from '../knowledge/service.ts'
import type { Folding } from '../sessions/folding.ts'
import type { TurnDetails } from '../sessions/model.ts'
import type { SessionMemory } from '../sessions/service.ts'
import type { Memory, StoredTurn } from '../sessions/store.ts'
import type { Usage } from '../usage/service.ts'
import { countedLlm } from './call-count.ts'
import type { Emit, KbRef, TurnStats } from './events.ts'
import { type Channel, type ModelAnswer, type ModelLoop, runModelLoop } from './model-loop.ts'
import type { TurnGuard } from './open-turns.ts'
import { buildMessages, rememberedText, userMessage } from './prompt.ts'
import type { Trace } from './trace.ts'
import {
  type Conversation,
  type ResolvedTurn,
  type ToolSources,
  type TurnRequest,
  toolsOffered,
} from './turn-config.ts'

const NO_PASSAGES: readonly KbHit[] = []

/** Which model answers a tenant: its own channel when it has one, else the platform's. */
export interface ChannelChoice {
  readonly label: 'byo' | 'platform'
  readonly llm: Llm
  /** The platform's, when `llm` is the tenant's own and failover is on. */
  readonly fallback: Llm | null
  /** Whether the tenant's configuration still chooses the same channel. */
  isCurrent(): Promise<boolean>
}

export interface TurnOptions extends ToolSources {
  readonly clock: Clock
  readonly log: Logger
  readonly meters: Meters
  readonly memory: SessionMemory
  readonly folding: Folding
  readonly retrieve: Kb['retrieve']
  readonly usage: Pick<Usage, 'countTokens'>
  /** The memory that all requests share. */
  readonly budget: MemoryBudget
}

/** Everything that a turn depends on. */
export interface Turn {
  readonly principal: Principal
  /** Null for a turn that neither recalls nor stores anything. */
  readonly sessionId: string | null
  readonly request: TurnRequest
  readonly resolved: ResolvedTurn
  readonly channel: ChannelChoice
  readonly trace: Trace
  readonly confirm: TurnGuard['confirm']
  /** Statements that run in the transaction that stores the turn. */
  readonly fence: Fence
}

const NO_MEMORY: Memory = { summary: '', foldedThrough: 0, turns: [] }

/**
 * The turn: recall the session, if it has one, retrieve passages, let the model loop answer, store
 * the turn, and only then end the stream. A turn that ends in calls of the client's tools is not
 * over, so it is not stored. Throws what went wrong; nothing is stored then.
 */
export async function runTurn(
  options: TurnOptions,
  turn: Turn,
  signal: AbortSignal,
  emit: Emit,
): Promise<ModelAnswer> {
  const { memory, folding, budget } = options
  const { principal, sessionId, request, resolved, confirm } = turn
  const { tenantId } = principal
  const primary: Channel = { ...turn.channel, model: resolved.model }
  const [recalled, found] = await Promise.all([
    sessionId === null ? NO_MEMORY : memory.recall(tenantId, sessionId),
    retrieveFor(options, turn, signal),
  ])
  const replaces = request.replace_last ? replaceable(recalled, principal) : null
  const before = replaces ? { ...recalled, turns: recalled.turns.slice(0, -1) } : recalled
  if (sessionId !== null && memory.isFull(before)) {
    folding.start(tenantId, sessionId, counted(options, principal, primary))
    throw appError('session_full')
  }
  const passages = passagesOf(found)
  if (passages.length > 0) await emit([{ type: 'kb_refs', refs: refsOf(passages) }])
  const share = budget.open(tenantId)
  try {
    const loop = await modelLoopOf(options, turn, { primary, before, found, share })
    const answer = await runModelLoop(loop, signal, emit)
    await confirm()
    signal.throwIfAborted()
    const stats = statsOf(answer, found)
    if (sessionId !== null && answer.clientCalls.length === 0) {
      const isBuiltIn = answer.channel.llm.name === 'offline'
      const details = turn.trace.details(refsOf(passages), stats, isBuiltIn)
      await appendTurn(options, { ...turn, sessionId }, answer, { before, replaces, details })
    }
    await emit([stats, { type: 'llm_end', reply: answer.text }])
    return answer
  } finally {
    share.close()
  }
}

interface LoopParts {
  readonly primary: Channel
  readonly before: Memory
  readonly found: Retrieved
  readonly share: MemoryShare
}

/** The messages and tools that the model gets. */
async function modelLoopOf(
  options: TurnOptions,
  { principal, request, resolved, channel, trace, confirm }: Turn,
  { primary, before: memory, found, share }: LoopParts,
): Promise<ModelLoop> {
  const { log, meters, usage } = options
  const { prompt, context, thinking, temperature } = resolved
  const { text, images, conversation } = request
  const showsThinking = request.show_thinking || (thinking && conversation?.showThinking)
  const said = conversation?.messages ?? [userMessage(text, images)]
  const passages = passagesOf(found)
  const isMiss = found !== null && found !== 'skipped' && passages.length === 0
  const messages = buildMessages({ prompt, context, memory, passages, isMiss, said })
  share.add(bytesOf(messages))
  const offered = await toolsOffered(options, principal, resolved, request)
  return {
    remembered: 2 * memory.turns.length,
    request: {
      purpose: 'turn',
      messages,
      passages,
      thinking,
      temperature,
      ...(showsThinking ? { showThinking: true } : {}),
      ...(conversation ? { sampling: conversation.sampling, ...forcedOf(conversation) } : {}),
    },
    tools: createToolBox(offered, principal.tenantId, log),
    clientTools: conversation?.toolChoice === 'none' ? [] : (conversation?.clientTools ?? []),
    primary,
    fallback: fallbackOf(channel),
    fallbackOnlyWhileSilent: conversation?.fallbackOnlyWhileSilent ?? false,
    confirm,
    countTokens: (channel, tokens) => usage.countTokens(principal, channel, tokens),
    share,
    trace,
    log,
    meters,
  }
}

function forcedOf({ toolChoice }: Conversation): { forcedTool?: ForcedTool } {
  return toolChoice === 'auto' || toolChoice === 'none' ? {} : { forcedTool: toolChoice }
}

/** The newest turn; a key of an app or a device replaces only what its own app answered. */
function replaceable({ turns }: Memory, { kind, appId }: Principal): StoredTurn | null {
  const last = turns.at(-1) ?? null
  const isForeign = (kind === 'app' || kind === 'device') && last?.app_id !== appId
  return isForeign ? null : last
}

interface Remembered {
  readonly before: Memory
  readonly replaces: StoredTurn | null
  readonly details: TurnDetails
}

/**
 * Stores the turn; once the session is long, or too long for the model that answered, its older
 * half is folded by the same channel.
 */
async function appendTurn(
  options: TurnOptions,
  { principal, sessionId, request, fence }: Turn & { readonly sessionId: string },
  { text: reply, channel, forgot }: ModelAnswer,
  { before, replaces, details }: Remembered,
): Promise<void> {
  const { clock, memory, folding } = options
  const { tenantId, appId, deviceId, userId } = principal
  const userText = rememberedText(request.text, request.images)
  const isLong = await memory.appendTurn(before, {
    tenantId,
    sessionId,
    userText,
    reply,
    at: clock.iso(),
    appId,
    deviceId,
    userId,
    replaces,
    details: JSON.stringify(details),
    fence,
  })
  // Folded by the channel that answered. A channel of the tenant that has just failed would fail at
  // the summary, too, and the platform's must see only what `provider_fallback` has announced.
  if (isLong || forgot) {
    folding.start(tenantId, sessionId, counted(options, principal, channel), forgot)
  }
}

/** The same channel; its calls count for the key of the turn. */
const counted = ({ usage }: TurnOptions, principal: Principal, channel: Channel): Channel => ({
  ...channel,
  llm: countedLlm(channel.llm, (tokens) => usage.countTokens(principal, channel.label, tokens)),
})

/** What a turn knows of the documents; null when it did not search them. */
type Retrieved = Retrieval | 'skipped' | null

const passagesOf = (found: Retrieved) =>
  found === null || found === 'skipped' ? NO_PASSAGES : found.passages

/** When the search fails, the agent still answers, and an event of the turn says so. */
async function retrieveFor(
  { retrieve, log }: TurnOptions,
  { principal, request, resolved }: Turn,
  signal: AbortSignal,
): Promise<Retrieved> {
  // The text is empty for an image without a question.
  if (!resolved.kb || request.text === '') return null
  try {
    return await retrieve(principal.tenantId, request.text, signal)
  } catch (error) {
    signal.throwIfAborted()
    log.warn('retrieval failed', errorFields(error))
    return 'skipped'
  }
}

const refsOf = (passages: readonly KbHit[]): KbRef[] =>
  passages.map(({ doc_id, title, seq, score, page, heading, url }) => ({
    doc_id,
    title,
    seq,
    score,
    page,
    heading,
    url,
  }))

/** Images, and the calls of earlier messages, are counted with the body of the request. */
const bytesOf = (messages: readonly LlmMessage[]): number =>
  messages.reduce((sum, { content }) => sum + bytesOfText(content), 0)

/** The fallback uses the platform's default model. */
function fallbackOf({ fallback }: ChannelChoice): Channel | null {
  const isCurrent = async () => true
  return fallback && { label: 'platform_fallback', llm: fallback, model: null, isCurrent }
}

const statsOf = ({ modelCalls, channel, usage }: ModelAnswer, found: Retrieved): TurnStats => ({
  type: 'stats',
  iterations: modelCalls,
  channel: channel.label,
  input_tokens: usage.inputTokens,
  output_tokens: usage.outputTokens,
  usage_estimated: usage.isEstimated,
  ...(found === null ? {} : { kb: searchedOf(found) }),
})

const searchedOf = (found: Retrieval | 'skipped'): NonNullable<TurnStats['kb']> =>
  found === 'skipped'
    ? found
    : {
        searched: true,
        best: found.best,
        relevance: found.relevance,
        shown: found.passages.length,
      }
