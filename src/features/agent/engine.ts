import { ChannelFailure } from '../../channels/ports/failure.ts'
import type { Llm, LlmMessage, LlmPart, LlmRequest, ToolCall } from '../../channels/ports/llm.ts'
import { MODEL_CALLS_PER_TURN_MAX } from '../../core/limits/contract.ts'
import { ANSWER_CHARS_MAX } from '../../core/limits/upstream.ts'
import type { Logger } from '../../core/log.ts'
import type { Meters } from '../../core/meters.ts'
import type { ToolBox } from '../../tools/tool-box.ts'
import type { AgentEvent, AnsweringChannel, Tell } from './events.ts'
import { tellFailure } from './tell-failure.ts'
import type { TextShare } from './text-room.ts'

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
  /** Where the text of the turn is counted. */
  readonly share: Pick<TextShare, 'add'>
  /** Stores the finished turn, which `by` has answered; it is on disk when this resolves. */
  readonly store: (reply: string, by: Channel) => Promise<void>
  readonly log: Logger
  readonly meters: Meters
}

interface Answer {
  readonly reply: string
  readonly iterations: number
}

/**
 * One turn: model calls and tools until the model has answered, on the primary channel and, when it
 * fails for good, announced, once more from the start on the fallback. Never throws: it ends with
 * `stats` and `llm_end` after the turn is stored, or with `error`, or silently when the client
 * left.
 */
export async function runTurn(plan: TurnPlan, signal: AbortSignal, tell: Tell): Promise<void> {
  try {
    const { channel, answer } = await answerTurn(plan, signal, tell)
    if (signal.aborted) return
    await plan.store(answer.reply, channel)
    await tell([
      { type: 'stats', iterations: answer.iterations, channel: channel.label },
      { type: 'llm_end', reply: answer.reply },
    ])
  } catch (error) {
    await tellFailure(error, plan.log, signal, tell)
  }
}

async function answerTurn(
  plan: TurnPlan,
  signal: AbortSignal,
  tell: Tell,
): Promise<{ channel: Channel; answer: Answer }> {
  const { primary, fallback } = plan
  try {
    return { channel: primary, answer: await answerOn(primary, plan, signal, tell) }
  } catch (error) {
    if (!(error instanceof ChannelFailure) || signal.aborted) throw error
    report(plan, primary, error)
    if (!fallback) throw error
    plan.meters.fellBack(error.reason)
    await tell([{ type: 'provider_fallback', from: 'byo', reason: error.reason }])
    try {
      return { channel: fallback, answer: await answerOn(fallback, plan, signal, tell) }
    } catch (again) {
      if (again instanceof ChannelFailure && !signal.aborted) report(plan, fallback, again)
      throw again
    }
  }
}

function report({ log, meters }: TurnPlan, { label: channel }: Channel, failure: ChannelFailure) {
  const { reason, phrase } = failure
  log.warn('channel failed', { channel, reason, cause: phrase })
  meters.upstreamFailed(channel, reason)
}

/** The loop of model calls and tool rounds on one channel. The last call is offered no tools. */
async function answerOn(
  channel: Channel,
  plan: TurnPlan,
  signal: AbortSignal,
  tell: Tell,
): Promise<Answer> {
  const messages: LlmMessage[] = [...plan.request.messages]
  let offered = plan.tools.specs
  let reply = ''
  for (let iterations = 1; ; iterations++) {
    const last = iterations === MODEL_CALLS_PER_TURN_MAX
    const tools = last ? [] : offered
    const request = { ...plan.request, messages, model: channel.model, tools }
    let text = ''
    const calls: ToolCall[] = []
    let held = 0
    try {
      for await (const parts of await channel.llm.open(request, signal)) {
        const events = collect(parts, calls)
        held = countHeld(parts, held, plan.share)
        for (const event of events) {
          plan.share.add(event.text.length)
          text += event.text
        }
        if (reply.length + text.length > ANSWER_CHARS_MAX) throw tooLong()
        if (events.length > 0) await tell(events)
      }
    } catch (error) {
      // A model without tool support says so before it says anything else: ask again without.
      if (!refusesTools(error, tools.length)) throw error
      offered = []
      iterations -= 1
      continue
    }
    reply += text
    // The arguments stay in the messages of the turn; the rest is free again.
    plan.share.add(calls.reduce((units, call) => units + call.arguments.length, -held / 2))
    if (calls.length === 0) return { reply, iterations }
    if (last) throw new ChannelFailure('provider_error', 'tool calls without end')
    messages.push({ role: 'assistant', content: text, toolCalls: calls })
    messages.push(...(await useTools(calls, plan.tools, signal, tell)))
  }
}

/** Counts what the adapter holds of an unfinished answer; gives the new figure. */
function countHeld(parts: readonly LlmPart[], before: number, share: TurnPlan['share']): number {
  let held = before
  for (const part of parts) if (part.type === 'held') held = part.bytes
  if (held !== before) share.add((held - before) / 2)
  return held
}

const tooLong = () => new ChannelFailure('provider_error', 'answer too large')

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

/** Runs the calls of one round side by side; their results for the model, in order. */
async function useTools(
  calls: readonly ToolCall[],
  tools: ToolBox,
  signal: AbortSignal,
  tell: Tell,
): Promise<LlmMessage[]> {
  await tell(calls.map(({ name }) => ({ type: 'tool_call', name })))
  const results = await Promise.all(calls.map((call) => tools.run(call, signal)))
  signal.throwIfAborted()
  const events: AgentEvent[] = []
  const messages: LlmMessage[] = []
  for (const [index, call] of calls.entries()) {
    const result = results[index] ?? { ok: false, content: '' }
    messages.push({ role: 'tool', callId: call.id, content: result.content })
    events.push({ type: 'tool_result', name: call.name, ok: result.ok })
  }
  await tell(events)
  return messages
}
