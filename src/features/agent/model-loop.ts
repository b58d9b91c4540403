import { MODEL_CALLS_PER_TURN_MAX } from '../../core/limits/contract.ts'
import { ANSWER_CHARS_MAX } from '../../core/limits/upstream.ts'
import type { Logger } from '../../core/log.ts'
import { bytesOfText } from '../../core/memory-budget.ts'
import type { Meters } from '../../core/meters.ts'
import type { ToolBox } from '../../tools/tool-box.ts'
import { ChannelFailure } from '../../upstream/ports/failure.ts'
import type { LlmMessage, ToolCall, ToolSpec } from '../../upstream/ports/llm.ts'
import { addTokens, NO_TOKENS, type TokenUsage } from './call-count.ts'
import type { Emit } from './events.ts'
import {
  type CallAnswer,
  type CallParts,
  type Channel,
  callModel,
  type FinishReason,
} from './model-call.ts'

export interface ModelLoop extends CallParts {
  /** How many messages after the first are memory: they may be left out, the oldest first. */
  readonly remembered: number
  readonly tools: ToolBox
  /** Tools that the caller runs: the loop ends when the model calls nothing else. */
  readonly clientTools: readonly ToolSpec[]
  readonly primary: Channel
  /** Takes over when `primary` has failed for good, and an event says so; null when none does. */
  readonly fallback: Channel | null
  /** Whether `fallback` takes over only before any text was emitted. */
  readonly fallbackOnlyWhileSilent: boolean
  /** Limit of model calls; absent: the limit of every turn. */
  readonly modelCallsMax?: number | undefined
  /** Called before each model call and tool round; throws when the loop may not go on. */
  confirm(channel: Channel): Promise<void>
  readonly log: Logger
  readonly meters: Meters
}

export interface ModelAnswer {
  /** The channel that answered. */
  readonly channel: Channel
  /** The text of all model calls together. */
  readonly text: string
  readonly modelCalls: number
  readonly finish: FinishReason
  /** Calls of the caller's tools; empty when the model has answered. */
  readonly clientCalls: readonly ToolCall[]
  /** Whether memory was left out because it was too long for the model. */
  readonly forgot: boolean
  /** The name of the model that answered; null where it has none. */
  readonly model: string | null
  /** Sum of all model calls that began to answer, those on a channel that failed among them. */
  readonly usage: TokenUsage
}

type ChannelAnswer = Omit<ModelAnswer, 'usage' | 'model'>

/**
 * The loop of model calls and tool rounds until the model has answered, on the primary channel and,
 * when that fails for good, once more from the start on the fallback. It knows neither memory nor
 * passages: messages and tools go in; events, usage and the finish reason come out. Throws
 * `ChannelFailure`, `BudgetExceeded`, what `confirm` throws, or the signal's reason.
 */
export async function runModelLoop(
  loop: ModelLoop,
  signal: AbortSignal,
  emit: Emit,
): Promise<ModelAnswer> {
  const { primary, fallback, share, meters } = loop
  const bytesBefore = share.bytes
  let usage = NO_TOKENS
  const counted: ModelLoop = {
    ...loop,
    countTokens(channel, tokens, hasBegun) {
      if (hasBegun) usage = addTokens(usage, tokens)
      loop.countTokens(channel, tokens, hasBegun)
    },
  }
  let maySwitch = fallback !== null
  const emitText: Emit = (events) => {
    maySwitch &&= !events.some(({ type }) => type === 'llm_delta')
    return emit(events)
  }
  const isWatched = maySwitch && loop.fallbackOnlyWhileSilent
  try {
    const answer = await runOnChannel(primary, counted, signal, isWatched ? emitText : emit)
    return { ...answer, usage, model: loop.trace.model ?? null }
  } catch (error) {
    reportFailure(error, primary, loop, signal)
    const isFailure = error instanceof ChannelFailure && !signal.aborted
    if (!isFailure || !fallback || !maySwitch) throw error
    meters.fellBack(error.reason)
    share.add(bytesBefore - share.bytes)
    loop.trace.startOver(error.reason)
    await emit([{ type: 'provider_fallback', from: 'byo', reason: error.reason }])
  }
  try {
    const answer = await runOnChannel(fallback, counted, signal, emit)
    return { ...answer, usage, model: loop.trace.model ?? null }
  } catch (error) {
    reportFailure(error, fallback, loop, signal)
    throw error
  }
}

/** Logs and counts the failure of a channel, but not other errors or a client that left. */
function reportFailure(
  error: unknown,
  { label: channel }: Channel,
  { log, meters, trace }: ModelLoop,
  signal: AbortSignal,
): void {
  if (!(error instanceof ChannelFailure) || signal.aborted) return
  const { reason, phrase } = error
  trace.failedOn = channel
  log.warn('channel failed', { channel, reason, cause: phrase })
  meters.upstreamFailed(channel, reason)
}

/**
 * Alternates model calls and tool rounds. The last call is offered no tools. A refused call is made
 * again without what was too much for the model: this server's tools, or the older half of the
 * memory. The caller's tools stay: an answer without them would not be what was asked for.
 */
async function runOnChannel(
  channel: Channel,
  loop: ModelLoop,
  signal: AbortSignal,
  emit: Emit,
): Promise<ChannelAnswer> {
  const messages: LlmMessage[] = [...loop.request.messages]
  const { clientTools, modelCallsMax = MODEL_CALLS_PER_TURN_MAX } = loop
  let offered = [...loop.tools.specs, ...clientTools]
  let { forcedTool } = loop.request
  let { remembered } = loop
  let text = ''
  for (let modelCalls = 1; ; modelCalls++) {
    const isLast = modelCalls === modelCallsMax
    const tools = isLast ? [] : offered
    await loop.confirm(channel)
    let answer: CallAnswer
    try {
      const call = { messages, tools, forcedTool, charsMax: ANSWER_CHARS_MAX - text.length }
      answer = await callModel(channel, call, loop, signal, emit)
    } catch (error) {
      if (!(error instanceof ChannelFailure)) throw error
      if (error.contextExceeded && remembered > 0) {
        const oldest = olderHalf(remembered)
        messages.splice(1, oldest)
        remembered -= oldest
      } else if (error.toolsRefused && tools.length > clientTools.length) {
        offered = [...clientTools]
      } else {
        throw error
      }
      modelCalls -= 1
      continue
    }
    text += answer.text
    forcedTool = undefined
    const ours = oursOf(answer.toolCalls, clientTools)
    if (ours.length === 0) {
      const { toolCalls: clientCalls, finish } = answer
      const forgot = remembered < loop.remembered
      return { channel, text, modelCalls, finish, clientCalls, forgot }
    }
    if (isLast) throw new ChannelFailure('provider_error', 'tool calls without end')
    await loop.confirm(channel)
    messages.push({ role: 'assistant', content: answer.text, toolCalls: ours })
    messages.push(...(await runTools(ours, loop, signal, emit)))
  }
}

/**
 * The calls that the loop answers. Those of the caller's tools in the same message are dropped: the
 * model is asked again with the results, and no half of a round is kept.
 */
function oursOf(calls: readonly ToolCall[], clientTools: readonly ToolSpec[]): readonly ToolCall[] {
  if (clientTools.length === 0) return calls
  return calls.filter((call) => !clientTools.some(({ name }) => name === call.name))
}

/** The size of the older half of `messages`, which are pairs of question and answer. */
const olderHalf = (messages: number) => 2 * Math.ceil(messages / 4)

/** Runs the calls of one round side by side; gives their results for the model, in order. */
async function runTools(
  calls: readonly ToolCall[],
  { tools, share, trace }: ModelLoop,
  signal: AbortSignal,
  emit: Emit,
): Promise<LlmMessage[]> {
  await emit(
    calls.map(({ name, arguments: args }) => ({ type: 'tool_call', name, arguments: args })),
  )
  const results = await Promise.all(
    calls.map(async (call) => {
      const startedAt = trace.now()
      const result = await tools.run(call, signal)
      share.add(bytesOfText(result.content))
      const { name, arguments: given } = call
      const { ok, content, needsApproval, declined } = result
      const ms = trace.msSince(startedAt)
      trace.ranTool({ name, ok, ms, arguments: given, result: content, needsApproval, declined })
      return { call, ...result }
    }),
  )
  signal.throwIfAborted()
  await emit(results.map(({ call, ok }) => ({ type: 'tool_result', name: call.name, ok })))
  return results.map(({ call, content }) => ({ role: 'tool', callId: call.id, content }))
}
