import type { ChatBody } from './upstream-exchange.ts'

export interface PlannedCall {
  readonly name: string
  /** JSON text, or a value that is sent as JSON. */
  readonly arguments?: unknown
  readonly id?: string
}

/** Content of one answer, without its framing. */
export interface ChatPlan {
  /** Sent in pieces of about four characters. */
  readonly text?: string
  /** Sent unchanged, one a chunk; takes precedence over `text`. */
  readonly pieces?: readonly string[]
  /** Sent in fragments, as most vendors do; after the text. */
  readonly toolCalls?: readonly PlannedCall[]
  /** Sent before the text as `reasoning_content`. */
  readonly reasoning?: string
  /** Default: sent when the request asks for usage. Null: never. */
  readonly usage?: { readonly input: number; readonly output: number } | null
  /** Default `stop` or `tool_calls`. Null: no finish is sent. */
  readonly finish?: string | null
  /** False: no closing `[DONE]` is sent. */
  readonly done?: boolean
  /** Payloads that replace all other content: JSON values or raw text. */
  readonly payloads?: readonly unknown[]
}

/** The SSE events of an answer, and how many of them carry content. */
export function chatEvents(plan: ChatPlan, body: ChatBody): { events: string[]; pieces: number } {
  const done = plan.done === false ? [] : ['data: [DONE]\n\n']
  if (plan.payloads) {
    const events = plan.payloads.map((payload) =>
      frame(typeof payload === 'string' ? payload : JSON.stringify(payload)),
    )
    return { events: [...events, ...done], pieces: events.length }
  }
  const chunk = (delta: object, finish: string | null = null) =>
    frame(
      JSON.stringify({
        id: 'chatcmpl-fake',
        object: 'chat.completion.chunk',
        created: 1_700_000_000,
        model: body.model ?? 'fake',
        choices: [{ index: 0, delta, finish_reason: finish }],
      }),
    )
  const content = [
    ...split(plan.reasoning ?? '', 8).map((part) => chunk({ reasoning_content: part })),
    ...(plan.pieces ?? split(plan.text ?? '', 4)).map((part) => chunk({ content: part })),
    ...(plan.toolCalls ?? []).flatMap((call, index) =>
      callDeltas(call, index, body).map((delta) => chunk({ tool_calls: [delta] })),
    ),
  ]
  const finish = plan.finish === undefined ? defaultFinish(plan) : plan.finish
  const events = [
    ...content,
    ...(finish === null ? [] : [chunk({}, finish)]),
    ...usageEvent(plan, body),
    ...done,
  ]
  return { events, pieces: content.length }
}

const defaultFinish = (plan: ChatPlan) => (plan.toolCalls?.length ? 'tool_calls' : 'stop')
const frame = (payload: string) => `data: ${payload}\n\n`

function usageEvent(plan: ChatPlan, body: ChatBody): string[] {
  const options = body.stream_options as { include_usage?: boolean } | undefined
  if (plan.usage === null || (!plan.usage && !options?.include_usage)) return []
  const { input, output } = plan.usage ?? { input: 11, output: 7 }
  const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
  return [frame(JSON.stringify({ id: 'chatcmpl-fake', choices: [], usage }))]
}

/** Id and name first, then the arguments in pieces. The id is unique within a conversation. */
function callDeltas(call: PlannedCall, index: number, body: ChatBody): object[] {
  const given = call.arguments ?? {}
  const text = typeof given === 'string' ? given : JSON.stringify(given)
  const id = call.id ?? `call_${body.messages.length}_${index}`
  return [
    { index, id, type: 'function', function: { name: call.name, arguments: '' } },
    ...split(text, 6).map((part) => ({ index, function: { arguments: part } })),
  ]
}

function split(text: string, size: number): string[] {
  const characters = [...text]
  const parts: string[] = []
  for (let at = 0; at < characters.length; at += size) {
    parts.push(characters.slice(at, at + size).join(''))
  }
  return parts
}
