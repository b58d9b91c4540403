import { ChannelFailure } from '../../channels/ports/failure.ts'
import type {
  Llm,
  LlmMessage,
  LlmPart,
  LlmRequest,
  LlmUsage,
  ToolCall,
  ToolSpec,
} from '../../channels/ports/llm.ts'
import { MODEL_CALLS_PER_TURN_MAX } from '../../core/limits/contract.ts'
import { ANSWER_CHARS_MAX } from '../../core/limits/upstream.ts'
import type { Logger } from '../../core/log.ts'
import { bytesOfText, type MemoryShare } from '../../core/memory-budget.ts'
import type { Meters } from '../../core/meters.ts'
import { TextInPieces } from '../../core/text.ts'
import type { ToolBox } from '../../tools/tool-box.ts'
import type { AgentEvent, AnsweringChannel, Emit } from './events.ts'

/** Where model calls go. */
export interface Channel {
  readonly label: AnsweringChannel
  readonly llm: Llm
  /** Null: the channel's default model. */
  readonly model: string | null
  /** Whether the tenant still has this channel configured as it was. */
  isCurrent(): Promise<boolean>
}

export interface ModelLoop {
  readonly request: Omit<LlmRequest, 'model' | 'tools'>
  readonly tools: ToolBox
  readonly primary: Channel
  /** Takes over, announced, when `primary` has failed for good; null: nothing does. */
  readonly fallback: Channel | null
  /** Called before each model call and tool round; throws when the loop may not go on. */
  confirm(channel: Channel): Promise<void>
  /** Counts what the loop holds in memory. */
  readonly share: Pick<MemoryShare, 'add' | 'bytes'>
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
  /** Sum of the model calls; null when one of them did not say. */
  readonly usage: LlmUsage | null
}

type Finish = Extract<LlmPart, { type: 'finish' }>
export type FinishReason = Finish['reason']

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
  try {
    return await runOnChannel(primary, loop, signal, emit)
  } catch (error) {
    reportFailure(error, primary, loop, signal)
    if (!(error instanceof ChannelFailure) || signal.aborted || !fallback) throw error
    meters.fellBack(error.reason)
    share.add(bytesBefore - share.bytes)
    await emit([{ type: 'provider_fallback', from: 'byo', reason: error.reason }])
  }
  try {
    return await runOnChannel(fallback, loop, signal, emit)
  } catch (error) {
    reportFailure(error, fallback, loop, signal)
    throw error
  }
}

/** Logs and counts the failure of a channel; other errors, and a client that left, are none. */
function reportFailure(
  error: unknown,
  { label: channel }: Channel,
  { log, meters }: ModelLoop,
  signal: AbortSignal,
): void {
  if (!(error instanceof ChannelFailure) || signal.aborted) return
  const { reason, phrase } = error
  log.warn('channel failed', { channel, reason, cause: phrase })
  meters.upstreamFailed(channel, reason)
}

/** Alternates model calls and tool rounds. The last call is offered no tools. */
async function runOnChannel(
  channel: Channel,
  loop: ModelLoop,
  signal: AbortSignal,
  emit: Emit,
): Promise<ModelAnswer> {
  const messages: LlmMessage[] = [...loop.request.messages]
  let offered = loop.tools.specs
  let text = ''
  let usage: LlmUsage | null = { inputTokens: 0, outputTokens: 0 }
  for (let modelCalls = 1; ; modelCalls++) {
    const isLast = modelCalls === MODEL_CALLS_PER_TURN_MAX
    const tools = isLast ? [] : offered
    await loop.confirm(channel)
    let answer: CallAnswer
    try {
      const call = { messages, tools, charsMax: ANSWER_CHARS_MAX - text.length }
      answer = await callModel(channel, call, loop, signal, emit)
    } catch (error) {
      // A model without tool support refuses before it says anything: ask again without tools.
      if (!refusesTools(error, tools)) throw error
      offered = []
      modelCalls -= 1
      continue
    }
    text += answer.text
    usage = sum(usage, answer.usage)
    const { toolCalls, finish } = answer
    if (toolCalls.length === 0) return { channel, text, modelCalls, finish, usage }
    if (isLast) throw new ChannelFailure('provider_error', 'tool calls without end')
    await loop.confirm(channel)
    messages.push({ role: 'assistant', content: answer.text, toolCalls })
    messages.push(...(await runTools(toolCalls, loop, signal, emit)))
  }
}

interface CallAnswer {
  readonly text: string
  readonly toolCalls: readonly ToolCall[]
  readonly finish: FinishReason
  readonly usage: LlmUsage | null
}

interface ModelCall {
  readonly messages: readonly LlmMessage[]
  readonly tools: readonly ToolSpec[]
  /** Characters that the answer may still have. */
  readonly charsMax: number
}

/** One model call; its text is emitted as it comes. */
async function callModel(
  { llm, model }: Channel,
  { messages, tools, charsMax }: ModelCall,
  { request, share }: ModelLoop,
  signal: AbortSignal,
  emit: Emit,
): Promise<CallAnswer> {
  const text = new TextInPieces()
  const toolCalls: ToolCall[] = []
  let finish: Finish = { type: 'finish', reason: 'other', usage: null }
  let heldBytes = 0
  for await (const parts of await llm.open({ ...request, messages, model, tools }, signal)) {
    const events: AgentEvent[] = []
    // In one step, because the adapter no longer holds the parts that it gives out.
    const stillHeld = heldAfter(parts, heldBytes)
    share.add(bytesOfParts(parts) + stillHeld - heldBytes)
    heldBytes = stillHeld
    for (const part of parts) {
      if (part.type === 'text') {
        text.add(part.text)
        events.push({ type: 'llm_delta', text: part.text })
      } else if (part.type === 'tool_call') {
        toolCalls.push(part.call)
      } else if (part.type === 'finish') {
        finish = part
      }
    }
    if (text.length > charsMax) throw new ChannelFailure('provider_error', 'answer too large')
    if (events.length > 0) await emit(events)
  }
  return { text: text.toString(), toolCalls, finish: finish.reason, usage: finish.usage }
}

/** What the adapter holds of the answer once `parts` are out: nothing after the finish. */
function heldAfter(parts: readonly LlmPart[], before: number): number {
  let bytes = before
  for (const part of parts) {
    if (part.type === 'finish') return 0
    if (part.type === 'held') bytes = part.bytes
  }
  return bytes
}

function bytesOfParts(parts: readonly LlmPart[]): number {
  let bytes = 0
  for (const part of parts) {
    if (part.type === 'text') bytes += bytesOfText(part.text)
    else if (part.type === 'tool_call') bytes += bytesOfCall(part.call)
  }
  return bytes
}

const bytesOfCall = ({ id, name, arguments: args }: ToolCall): number =>
  bytesOfText(id) + bytesOfText(name) + bytesOfText(args)

function refusesTools(error: unknown, offered: readonly ToolSpec[]): boolean {
  return offered.length > 0 && error instanceof ChannelFailure && error.toolsRefused
}

/** Runs the calls of one round side by side; gives their results for the model, in order. */
async function runTools(
  calls: readonly ToolCall[],
  { tools, share }: ModelLoop,
  signal: AbortSignal,
  emit: Emit,
): Promise<LlmMessage[]> {
  await emit(calls.map(({ name }) => ({ type: 'tool_call', name })))
  const results = await Promise.all(
    calls.map(async (call) => {
      const result = await tools.run(call, signal)
      share.add(bytesOfText(result.content))
      return { call, ...result }
    }),
  )
  signal.throwIfAborted()
  await emit(results.map(({ call, ok }) => ({ type: 'tool_result', name: call.name, ok })))
  return results.map(({ call, content }) => ({ role: 'tool', callId: call.id, content }))
}

const sum = (a: LlmUsage | null, b: LlmUsage | null): LlmUsage | null =>
  a &&
  b && {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
  }
