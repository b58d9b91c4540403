import type { Llm, LlmMessage, Passage } from '../../channels/llm.ts'
import type { Clock } from '../../core/clock.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import type { Principal } from '../../core/principal.ts'
import type { Jobs } from '../../jobs/runner.ts'
import type { SessionMemory } from '../sessions/memory.ts'
import { type Channel, runTurn } from './engine.ts'
import type { AgentEvent, KbRef } from './events.ts'
import type { AgentRequest } from './model.ts'
import { buildMessages, rememberedText } from './prompt.ts'
import { type ResolvedTurn, resolveTurn } from './resolve.ts'
import type { TurnContextStore } from './store.ts'
import type { Tool } from './tools/tool.ts'
import { createToolBox } from './tools/tool-box.ts'
import { createTurnQueue } from './turn-queue.ts'

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

export interface AgentOptions {
  readonly clock: Clock
  readonly log: Logger
  readonly jobs: Jobs
  readonly contexts: TurnContextStore
  readonly memory: SessionMemory
  readonly channelOf: (tenantId: string) => Promise<ChannelChoice>
  readonly retrieve: Retrieve
  /** All built-in tools, in the order they are offered. */
  readonly tools: readonly Tool[]
}

/** A turn that is ready to run; `channel` is known beforehand, for the request log. */
export interface PreparedTurn {
  readonly sessionId: string
  readonly channel: 'byo' | 'platform'
  run(signal: AbortSignal): AsyncGenerator<readonly AgentEvent[], void>
}

interface Turn {
  readonly principal: Principal
  readonly sessionId: string
  readonly request: AgentRequest
  readonly resolved: ResolvedTurn
  readonly channel: ChannelChoice
}

const SEARCH_TOOL = 'search_knowledge_base'

export function createAgent(options: AgentOptions) {
  const { clock, log, jobs, contexts, memory, channelOf, retrieve, tools } = options
  const queue = createTurnQueue()

  /** Loads what decides the turn; `sessionId` was checked by the caller. */
  async function prepare(
    principal: Principal,
    request: AgentRequest,
    sessionId: string,
  ): Promise<PreparedTurn> {
    const { tenantId, appId } = principal
    const context = await contexts.load(tenantId, appId, request.persona_id ?? null)
    const channel = await channelOf(tenantId)
    const resolved = resolveTurn(context, request)
    const turn = { principal, sessionId, request, resolved, channel }
    return { sessionId, channel: channel.label, run: (signal) => inOrder(turn, signal) }
  }

  async function* inOrder(turn: Turn, signal: AbortSignal) {
    const name = `${turn.principal.tenantId}/${turn.sessionId}`
    const leave = await queue.enter(name, signal)
    if (!leave) return
    try {
      yield* run(turn, signal)
    } finally {
      leave()
    }
  }

  async function* run(turn: Turn, signal: AbortSignal) {
    const { principal, sessionId, request, resolved, channel } = turn
    const { tenantId } = principal
    const [recalled, hits] = await Promise.all([
      memory.recall(tenantId, sessionId),
      resolved.kb ? search(tenantId, request.text, signal) : [],
    ])
    if (hits.length > 0) yield [refsOf(hits)]
    const passages = hits.map(({ title, seq, text }) => ({ title, seq, text }))
    const messages = buildMessages({
      prompt: resolved.prompt,
      memory: recalled,
      passages,
      text: request.text,
      images: request.images,
    })
    const { thinking, temperature } = resolved
    yield* runTurn(
      {
        request: { purpose: 'turn', messages, passages, thinking, temperature },
        tools: createToolBox(offered(resolved), tenantId, log),
        primary: { label: channel.label, llm: channel.llm, model: resolved.model },
        fallback: fallbackOf(channel),
        log,
        store: (reply) => store(turn, reply),
      },
      signal,
    )
  }

  /** A knowledge base that cannot be searched must not silence the agent: the turn goes on. */
  async function search(tenantId: string, text: string, signal: AbortSignal): Promise<Hit[]> {
    try {
      return await retrieve(tenantId, text, signal)
    } catch (error) {
      if (!signal.aborted) log.warn('retrieval failed', errorFields(error))
      return []
    }
  }

  function offered({ tools: allowed, kb }: ResolvedTurn): Tool[] {
    return tools.filter(
      ({ spec }) =>
        (allowed === null || allowed.includes(spec.name)) && (kb || spec.name !== SEARCH_TOOL),
    )
  }

  async function store(turn: Turn, reply: string) {
    const { principal, sessionId, request, channel } = turn
    await memory.append({
      tenantId: principal.tenantId,
      sessionId,
      userText: rememberedText(request.text, request.images),
      reply,
      at: clock.iso(),
      appId: principal.appId,
      deviceId: principal.deviceId,
    })
    jobs.run('fold memory', (signal) =>
      memory.foldWhenLong(principal.tenantId, sessionId, (messages) =>
        summarise(channel.llm, turn.resolved.model, messages, signal),
      ),
    )
  }

  return { prepare }
}

export type Agent = ReturnType<typeof createAgent>

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
  for await (const parts of llm.stream({ purpose: 'summary', ...request }, signal)) {
    for (const part of parts) if (part.type === 'text') summary += part.text
  }
  return summary
}
