import type { Llm, LlmMessage, Passage } from '../../channels/ports/llm.ts'
import type { Clock } from '../../core/clock.ts'
import { appError } from '../../core/errors.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import { bytesOfText, type MemoryBudget } from '../../core/memory-budget.ts'
import type { Meters } from '../../core/meters.ts'
import type { Principal } from '../../core/principal.ts'
import { createToolBox, type ToolsFor } from '../../tools/tool-box.ts'
import type { Folding } from '../sessions/folding.ts'
import type { SessionMemory } from '../sessions/service.ts'
import type { AgentEvent, Emit, KbRef, TurnStats } from './events.ts'
import type { AgentRequest } from './model.ts'
import { type Channel, type ModelAnswer, runModelLoop } from './model-loop.ts'
import type { TurnGuard } from './open-turns.ts'
import { buildMessages, rememberedText } from './prompt.ts'
import type { ResolvedTurn } from './turn-config.ts'

/** A retrieved passage with what `kb_refs` says of it. */
export type RetrievedPassage = Passage & KbRef

/** Searches the tenant's documents; empty when it has none or nothing is close enough. */
export type Retrieve = (
  tenantId: string,
  text: string,
  signal: AbortSignal,
) => Promise<RetrievedPassage[]>

/** Which model answers a tenant: its own channel when it has one, else the platform's. */
export interface ChannelChoice {
  readonly label: 'byo' | 'platform'
  readonly llm: Llm
  /** The platform's, when `llm` is the tenant's own and failover is on. */
  readonly fallback: Llm | null
  /** Whether the tenant's configuration still says the same. */
  isCurrent(): Promise<boolean>
}

export interface TurnOptions {
  readonly clock: Clock
  readonly log: Logger
  readonly meters: Meters
  readonly memory: SessionMemory
  readonly folding: Folding
  readonly retrieve: Retrieve
  readonly toolsFor: ToolsFor
  /** The memory that all requests share. */
  readonly budget: MemoryBudget
}

/** A turn with all that decides it. */
export interface Turn {
  readonly principal: Principal
  readonly sessionId: string
  readonly request: AgentRequest
  readonly resolved: ResolvedTurn
  readonly channel: ChannelChoice
  readonly confirm: TurnGuard['confirm']
}

/**
 * The remembered turn: recall the session, retrieve passages, let the model loop answer, store the
 * turn, and only then end the stream. Throws what went wrong; nothing is stored then.
 */
export async function runTurn(
  options: TurnOptions,
  turn: Turn,
  signal: AbortSignal,
  emit: Emit,
): Promise<void> {
  const { log, meters, memory, folding, toolsFor, budget } = options
  const { principal, sessionId, request, resolved, confirm } = turn
  const { tenantId } = principal
  const primary: Channel = { ...turn.channel, model: resolved.model }
  const [before, { passages, isSkipped }] = await Promise.all([
    memory.recall(tenantId, sessionId),
    retrieveFor(options, turn, signal),
  ])
  if (memory.isFull(before)) {
    folding.start(tenantId, sessionId, primary)
    throw appError('session_full')
  }
  if (passages.length > 0) await emit([refsOf(passages)])
  const { text, images } = request
  const { prompt, thinking, temperature } = resolved
  const messages = buildMessages({ prompt, memory: before, passages, text, images })
  const share = budget.open(tenantId)
  try {
    share.add(bytesOf(messages))
    const tools = createToolBox(await toolsFor(principal, resolved), tenantId, log)
    const modelRequest = { purpose: 'turn' as const, messages, passages, thinking, temperature }
    const fallback = fallbackOf(turn.channel)
    const countTokens = () => {}
    const loop = {
      ...{ request: modelRequest, tools, primary, fallback, confirm },
      ...{ countTokens, share, log, meters },
    }
    const answer = await runModelLoop(loop, signal, emit)
    await confirm()
    signal.throwIfAborted()
    await appendTurn(options, turn, answer, before)
    await emit(endOf(answer, isSkipped))
  } finally {
    share.close()
  }
}

/** Stores the turn; once the session is long, its older half is folded by the same channel. */
async function appendTurn(
  { clock, memory, folding }: TurnOptions,
  { principal, sessionId, request }: Turn,
  { text: reply, channel }: ModelAnswer,
  before: Parameters<SessionMemory['appendTurn']>[0],
): Promise<void> {
  const { tenantId, appId, deviceId } = principal
  const userText = rememberedText(request.text, request.images)
  const finished = { tenantId, sessionId, userText, reply, at: clock.iso(), appId, deviceId }
  const isLong = await memory.appendTurn(before, finished)
  // By the channel that answered. A tenant's own that has just failed would fail at the summary,
  // too; and the platform's sees only what the `provider_fallback` event has announced.
  if (isLong) folding.start(tenantId, sessionId, channel)
}

/** A knowledge base that cannot be searched does not silence the agent: the turn says so. */
async function retrieveFor(
  { retrieve, log }: TurnOptions,
  { principal, request, resolved }: Turn,
  signal: AbortSignal,
): Promise<{ passages: readonly RetrievedPassage[]; isSkipped: boolean }> {
  if (!resolved.kb) return { passages: [], isSkipped: false }
  try {
    const passages = await retrieve(principal.tenantId, request.text, signal)
    return { passages, isSkipped: false }
  } catch (error) {
    signal.throwIfAborted()
    log.warn('retrieval failed', errorFields(error))
    return { passages: [], isSkipped: true }
  }
}

function refsOf(passages: readonly RetrievedPassage[]): AgentEvent {
  return {
    type: 'kb_refs',
    refs: passages.map(({ doc_id, title, seq, score, page, heading, url }) => ({
      ...{ doc_id, title, seq, score },
      ...{ page, heading, url },
    })),
  }
}

/** Images are counted with the body of the request. */
const bytesOf = (messages: readonly LlmMessage[]): number =>
  messages.reduce((sum, { content }) => sum + bytesOfText(content), 0)

/** The fallback uses the platform's default model (contract, Fine points). */
function fallbackOf({ fallback }: ChannelChoice): Channel | null {
  const isCurrent = async () => true
  return fallback && { label: 'platform_fallback', llm: fallback, model: null, isCurrent }
}

function endOf({ modelCalls, channel, text, usage }: ModelAnswer, isSkipped: boolean) {
  const stats: TurnStats = {
    type: 'stats',
    iterations: modelCalls,
    channel: channel.label,
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    usage_estimated: usage.isEstimated,
    ...(isSkipped ? { kb: 'skipped' as const } : {}),
  }
  return [stats, { type: 'llm_end' as const, reply: text }]
}
