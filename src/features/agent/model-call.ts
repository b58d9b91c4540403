import { bytesOfText, type MemoryShare } from '../../core/memory-budget.ts'
import { TextInPieces } from '../../core/text.ts'
import { ChannelFailure } from '../../upstream/ports/failure.ts'
import type {
  ForcedTool,
  Llm,
  LlmMessage,
  LlmPart,
  LlmRequest,
  ToolCall,
  ToolSpec,
} from '../../upstream/ports/llm.ts'
import { CallCount, type TokenUsage } from './call-count.ts'
import type { AgentEvent, AnsweringChannel, Emit } from './events.ts'
import type { Trace } from './trace.ts'

/** Where model calls go. */
export interface Channel {
  readonly label: AnsweringChannel
  readonly llm: Llm
  /** Null: the channel's default model. */
  readonly model: string | null
  /** Whether the tenant still has this channel configured as it was. */
  isCurrent(): Promise<boolean>
}

/** What each model call of a turn needs. */
export interface CallParts {
  /** A forced tool holds for the first model call only. */
  readonly request: Omit<LlmRequest, 'model' | 'tools'>
  /** Counts the tokens of each model call that was sent; `hasBegun`: it began to answer. */
  countTokens(channel: AnsweringChannel, tokens: TokenUsage, hasBegun: boolean): void
  /** Counts what the turn holds in memory. */
  readonly share: Pick<MemoryShare, 'add' | 'bytes'>
  /** Collects the details of the turn. */
  readonly trace: Trace
}

type FinishPart = Extract<LlmPart, { type: 'finish' }>
export type FinishReason = FinishPart['reason']

export interface CallAnswer {
  readonly text: string
  readonly toolCalls: readonly ToolCall[]
  readonly finish: FinishReason
}

interface ModelCall {
  readonly messages: readonly LlmMessage[]
  readonly tools: readonly ToolSpec[]
  readonly forcedTool: ForcedTool | undefined
  /** Characters that the answer may still have. */
  readonly charsMax: number
}

const UNFINISHED: FinishPart = { type: 'finish', reason: 'other', usage: null }

/** One model call; its text is emitted as it comes. */
export async function callModel(
  { llm, model, label }: Channel,
  { charsMax, ...call }: ModelCall,
  { request, share, trace, countTokens }: CallParts,
  signal: AbortSignal,
  emit: Emit,
): Promise<CallAnswer> {
  const text = new TextInPieces()
  const toolCalls: ToolCall[] = []
  let finish: FinishPart = UNFINISHED
  let heldBytes = 0
  const meter = new CallCount()
  try {
    const stream = await llm.open({ ...request, ...call, model, meter }, signal)
    for await (const parts of stream) {
      const events: AgentEvent[] = []
      let bytes = -heldBytes
      for (const part of parts) {
        meter.add(part)
        if (part.type === 'text') {
          text.add(part.text)
          bytes += bytesOfText(part.text)
          events.push({ type: 'llm_delta', text: part.text })
          trace.gotText()
        } else if (part.type === 'thinking') {
          bytes += trace.thought(part.text)
          events.push({ type: 'thinking_delta', text: part.text })
        } else if (part.type === 'tool_call') {
          toolCalls.push(part.call)
          bytes += bytesOfCall(part.call)
        } else if (part.type === 'finish') {
          finish = part
        } else {
          heldBytes = part.bytes
        }
      }
      if (finish !== UNFINISHED) heldBytes = 0
      // Added in one step, because the adapter no longer holds the parts that it gives out.
      share.add(bytes + heldBytes)
      if (text.length > charsMax) throw new ChannelFailure('provider_error', 'answer too large')
      const slow = events.length > 0 ? emit(events) : undefined
      if (slow) await slow
    }
  } finally {
    const tokens = meter.tokens(call)
    if (tokens) countTokens(label, tokens, meter.hasBegun)
  }
  trace.model = finish.model
  return { text: text.toString(), toolCalls, finish: finish.reason }
}

const bytesOfCall = ({ id, name, arguments: args }: ToolCall): number =>
  bytesOfText(id) + bytesOfText(name) + bytesOfText(args)
