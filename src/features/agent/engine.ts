import { ChannelFailure } from '../../channels/failure.ts'
import type { Llm, LlmMessage, LlmPart, LlmRequest, ToolCall } from '../../channels/llm.ts'
import { MODEL_CALLS_PER_TURN_MAX } from '../../core/limits.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import type { Meters } from '../../core/meters.ts'
import type { AgentEvent, AnsweringChannel } from './events.ts'
import { failureMessage } from './failure-message.ts'
import type { ToolBox } from './tools/tool-box.ts'

/** Where a turn's model calls go. */
export interface Channel {
  readonly label: AnsweringChannel
  readonly llm: Llm
  /** Null: the channel's default model. */
  readonly model: string | null
}

export interface TurnPlan {
  readonly request: Omit<LlmRequest, 'model' | 'tools'>
  readonly tools: ToolBox
  readonly primary: Channel
  /** Takes over when `primary` failed for good; null: the failure is told as it is. */
  readonly fallback: Channel | null
  /** Stores the finished turn; it is on disk when this resolves. */
  readonly store: (reply: string) => Promise<void>
  readonly log: Logger
  readonly meters: Meters
}

interface Answer {
  readonly reply: string
  readonly iterations: number
}

type Events = AsyncGenerator<readonly AgentEvent[], Answer>

/**
 * One turn: model calls and tools until the model has answered, on the primary channel and, when it
 * fails for good, announced, once more from the start on the fallback. Never throws: it ends with
 * `stats` and `llm_end` after the turn is stored, or with `error`, or silently when the client
 * left.
 */
export async function* runTurn(
  plan: TurnPlan,
  signal: AbortSignal,
): AsyncGenerator<readonly AgentEvent[], void> {
  try {
    const { channel, answer } = yield* answerTurn(plan, signal)
    if (signal.aborted) return
    await plan.store(answer.reply)
    yield [
      { type: 'stats', iterations: answer.iterations, channel: channel.label },
      { type: 'llm_end', reply: answer.reply },
    ]
  } catch (error) {
    if (signal.aborted) return
    if (!(error instanceof ChannelFailure)) plan.log.error('turn failed', errorFields(error))
    yield [{ type: 'error', message: failureMessage(error) }]
  }
}

async function* answerTurn(
  plan: TurnPlan,
  signal: AbortSignal,
): AsyncGenerator<readonly AgentEvent[], { channel: Channel; answer: Answer }> {
  const { primary, fallback, log, meters } = plan
  const tell = ({ label: channel }: Channel, { reason, phrase }: ChannelFailure) => {
    log.warn('channel failed', { channel, reason, cause: phrase })
    meters.upstreamFailed(channel, reason)
  }
  try {
    return { channel: primary, answer: yield* answerOn(primary, plan, signal) }
  } catch (error) {
    if (!(error instanceof ChannelFailure) || signal.aborted) throw error
    tell(primary, error)
    if (!fallback) throw error
    meters.fellBack(error.reason)
    yield [{ type: 'provider_fallback', from: 'byo', reason: error.reason }]
    try {
      return { channel: fallback, answer: yield* answerOn(fallback, plan, signal) }
    } catch (again) {
      if (again instanceof ChannelFailure && !signal.aborted) tell(fallback, again)
      throw again
    }
  }
}

/** The loop of model calls and tool rounds on one channel. The last call is offered no tools. */
async function* answerOn(channel: Channel, plan: TurnPlan, signal: AbortSignal): Events {
  const messages: LlmMessage[] = [...plan.request.messages]
  let offered = plan.tools.specs
  let reply = ''
  for (let iterations = 1; ; iterations++) {
    const last = iterations === MODEL_CALLS_PER_TURN_MAX
    const tools = last ? [] : offered
    const request = { ...plan.request, messages, model: channel.model, tools }
    let text = ''
    const calls: ToolCall[] = []
    try {
      for await (const parts of channel.llm.stream(request, signal)) {
        const events = collect(parts, calls)
        for (const event of events) text += event.text
        if (events.length > 0) yield events
      }
    } catch (error) {
      // A model without tool support says so before it says anything else: ask again without.
      if (!refusesTools(error, tools.length)) throw error
      offered = []
      iterations -= 1
      continue
    }
    reply += text
    if (calls.length === 0) return { reply, iterations }
    if (last) throw new ChannelFailure('provider_error', 'tool calls without end')
    messages.push({ role: 'assistant', content: text, toolCalls: calls })
    yield* useTools(calls, plan.tools, messages, signal)
  }
}

function collect(parts: readonly LlmPart[], calls: ToolCall[]) {
  const events: { type: 'llm_delta'; text: string }[] = []
  for (const part of parts) {
    if (part.type === 'text') events.push({ type: 'llm_delta', text: part.text })
    else if (part.type === 'tool_call') calls.push(part.call)
  }
  return events
}

function refusesTools(error: unknown, offered: number): boolean {
  return offered > 0 && error instanceof ChannelFailure && error.toolsRefused
}

/** Runs the calls of one round side by side and adds their results for the model, in order. */
async function* useTools(
  calls: readonly ToolCall[],
  tools: ToolBox,
  messages: LlmMessage[],
  signal: AbortSignal,
): AsyncGenerator<readonly AgentEvent[], void> {
  yield calls.map(({ name }) => ({ type: 'tool_call' as const, name }))
  const results = await Promise.all(calls.map((call) => tools.run(call, signal)))
  signal.throwIfAborted()
  const events: AgentEvent[] = []
  for (const [index, call] of calls.entries()) {
    const result = results[index] ?? { ok: false, content: '' }
    messages.push({ role: 'tool', callId: call.id, content: result.content })
    events.push({ type: 'tool_result', name: call.name, ok: result.ok })
  }
  yield events
}
