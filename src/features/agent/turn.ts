import type { Llm, LlmMessage, Passage } from '../../channels/ports/llm.ts'
import type { Clock } from '../../core/clock.ts'
import { appError } from '../../core/errors.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import type { Meters } from '../../core/meters.ts'
import type { Principal } from '../../core/principal.ts'
import type { Jobs } from '../../jobs/runner.ts'
import type { ToolsFor } from '../../tools/registry.ts'
import { createToolBox } from '../../tools/tool-box.ts'
import type { SessionMemory } from '../sessions/memory.ts'
import type { Memory } from '../sessions/store.ts'
import { type Channel, runTurn } from './engine.ts'
import type { AgentEvent, KbRef, Tell } from './events.ts'
import type { AgentRequest } from './model.ts'
import { buildMessages, rememberedText } from './prompt.ts'
import type { ResolvedTurn } from './resolve.ts'
import type { TextRoom } from './text-room.ts'

/** A retrieved passage with what `kb_refs` tells of it. */
export type Hit = Passage & KbRef

/** Searches the tenant's documents; empty when it has none or nothing is close enough. */
export type Retrieve = (tenantId: string, text: string, signal: AbortSignal) => Promise<Hit[]>

/** Which model answers a tenant: its own channel when it has one, else the platform's. */
export interface ChannelChoice {
  readonly label: 'byo' | 'platform'
  readonly llm: Llm
  /** The platform's, when `llm` is the tenant's own and failover is on. */
  readonly fallback: Llm | null
}

export interface TurnOptions {
  readonly clock: Clock
  readonly log: Logger
  readonly jobs: Jobs
  readonly memory: SessionMemory
  readonly retrieve: Retrieve
  readonly toolsFor: ToolsFor
  readonly meters: Meters
  readonly room: TextRoom
}

export interface Turn {
  readonly principal: Principal
  readonly sessionId: string
  readonly request: AgentRequest
  readonly resolved: ResolvedTurn
  readonly channel: ChannelChoice
}

/** Runs one turn from memory and knowledge to the stored reply; the caller sees to its order. */
export async function performTurn(
  options: TurnOptions,
  turn: Turn,
  signal: AbortSignal,
  tell: Tell,
): Promise<void> {
  const { memory, log, toolsFor, meters } = options
  const { principal, sessionId, request, resolved, channel } = turn
  const { tenantId } = principal
  const [recalled, hits] = await Promise.all([
    memory.recall(tenantId, sessionId),
    resolved.kb ? search(options, tenantId, request.text, signal) : [],
  ])
  if (memory.isFull(recalled)) {
    fold(options, turn, { llm: channel.llm, model: resolved.model })
    throw appError('session_full')
  }
  if (hits.length > 0) await tell([refsOf(hits)])
  const passages = hits.map(({ title, seq, text }) => ({ title, seq, text }))
  const messages = buildMessages({
    prompt: resolved.prompt,
    memory: recalled,
    passages,
    text: request.text,
    images: request.images,
  })
  const { thinking, temperature } = resolved
  const share = options.room.open()
  const plan = {
    request: { purpose: 'turn' as const, messages, passages, thinking, temperature },
    tools: createToolBox(await toolsFor(principal, resolved), tenantId, log),
    primary: { label: channel.label, llm: channel.llm, model: resolved.model },
    fallback: fallbackOf(channel),
    share,
    log,
    meters,
    store: (reply: string, by: Channel) => store(options, turn, recalled, reply, by),
  }
  return runTurn(plan, signal, tell).finally(share.close)
}

/** A knowledge base that cannot be searched must not silence the agent: the turn goes on. */
async function search(
  { retrieve, log }: TurnOptions,
  tenantId: string,
  text: string,
  signal: AbortSignal,
): Promise<Hit[]> {
  try {
    return await retrieve(tenantId, text, signal)
  } catch (error) {
    if (!signal.aborted) log.warn('retrieval failed', errorFields(error))
    return []
  }
}

/**
 * Stores the turn; old turns are folded into the summary later, while nobody waits, by the channel
 * that answered. One that had to be replaced would fail at this, too, turn after turn, and the
 * platform gets to see nothing that a `provider_fallback` has not announced.
 */
async function store(options: TurnOptions, turn: Turn, before: Memory, reply: string, by: Channel) {
  const { clock, memory } = options
  const { principal, sessionId, request } = turn
  const { tenantId, appId, deviceId } = principal
  const userText = rememberedText(request.text, request.images)
  const finished = { tenantId, sessionId, userText, reply, at: clock.iso(), appId, deviceId }
  if (await memory.append(before, finished)) fold(options, turn, by)
}

function fold(
  { jobs, memory }: TurnOptions,
  { principal, sessionId }: Turn,
  { llm, model }: Pick<Channel, 'llm' | 'model'>,
) {
  jobs.run('fold memory', (signal) =>
    memory.foldWhenLong(principal.tenantId, sessionId, (messages) =>
      summarise(llm, model, messages, signal),
    ),
  )
}

function refsOf(hits: readonly Hit[]): AgentEvent {
  return {
    type: 'kb_refs',
    refs: hits.map(({ doc_id, title, seq, score }) => ({ doc_id, title, seq, score })),
  }
}

/** The re-run uses the platform's default model (contract, Fine points). */
function fallbackOf({ fallback }: ChannelChoice): Channel | null {
  return fallback && { label: 'platform_fallback', llm: fallback, model: null }
}

async function summarise(
  llm: Llm,
  model: string | null,
  messages: readonly LlmMessage[],
  signal: AbortSignal,
): Promise<string> {
  const request = { messages, model, passages: [], tools: [], thinking: false, temperature: null }
  let summary = ''
  for await (const parts of await llm.open({ purpose: 'summary', ...request }, signal)) {
    for (const part of parts) if (part.type === 'text') summary += part.text
  }
  return summary
}
