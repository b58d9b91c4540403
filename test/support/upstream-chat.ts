import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ChatPlan, chatEvents } from './upstream-chat-events.ts'
import type { Exchange } from './upstream-exchange.ts'
import { type Fault, type FaultOptions, playFault, SECRET, sendJson } from './upstream-fault.ts'

export interface ChatAnswer extends ChatPlan {
  /** Line ends of the event stream. */
  readonly lineEnd?: '\n' | '\r\n' | '\r'
  /** A comment line before every event. */
  readonly comments?: boolean
  /** Writes this many bytes at a time, so that characters and lines are split between reads. */
  readonly splitBytes?: number
  readonly contentType?: string
  /** Waits for `until` once `after` pieces are out (0: headers only). */
  readonly hold?: { readonly after: number; readonly until: Promise<unknown> }
  /** Waits before the headers. */
  readonly holdHeaders?: Promise<unknown>
  /** Lines sent before the first event, one every `pauseMs`. */
  readonly prelude?: readonly string[]
  readonly pauseMs?: number
  /** Leaves the connection open after the last event. */
  readonly keepOpen?: boolean
}

/**
 * Besides the general faults, after `after` good pieces: `cut` resets the connection, `eof` ends
 * the body without a finish, `hang` falls silent, `malformed` sends broken JSON and continues,
 * `error` sends an error object, `huge` an endless line, `dribble` an unfinished line byte by byte.
 * As whole answers: `json` is a completion without a stream, `empty` a finish without content.
 */
export type ChatFault =
  | Fault
  | 'cut'
  | 'eof'
  | 'hang'
  | 'malformed'
  | 'error'
  | 'huge'
  | 'dribble'
  | 'json'
  | 'empty'

const BROKEN: Partial<Record<ChatFault, string>> = {
  malformed: `data: {"choices":[{"delta":{"content":"${SECRET}\n\n`,
  error: `data: {"error":{"message":"${SECRET}","type":"server_error","code":500}}\n\n`,
  huge: `data: {"choices":[{"delta":{"content":"${'x'.repeat(2_000_000)}"}}]}\n\n`,
}

export async function streamChat(exchange: Exchange, answer: ChatAnswer): Promise<void> {
  await answer.holdHeaders
  const { response } = exchange
  response.writeHead(200, {
    'content-type': answer.contentType ?? 'text/event-stream; charset=utf-8',
  })
  response.flushHeaders()
  const { events, pieces } = chatEvents(answer, exchange.request.body)
  for (const line of answer.prelude ?? []) {
    await write(exchange, `${line}\n`)
    await sleep(answer.pauseMs ?? 0)
  }
  for (const [at, event] of events.entries()) {
    if (answer.hold && at === Math.min(answer.hold.after, pieces)) await answer.hold.until
    if (exchange.left()) return
    const text = (answer.comments ? ': keep-alive\n\n' : '') + event
    await write(exchange, text.replaceAll('\n', answer.lineEnd ?? '\n'), answer.splitBytes)
  }
  if (!answer.keepOpen) response.end()
}

export async function chatFault(exchange: Exchange, fault: ChatFault, options: FaultOptions) {
  const { response } = exchange
  if (fault === 'empty') return streamChat(exchange, { pieces: [] })
  if (fault === 'json') {
    const message = { role: 'assistant', content: SECRET }
    return sendJson(exchange, 200, { choices: [{ index: 0, message, finish_reason: 'stop' }] })
  }
  if (!isMidStream(fault)) return playFault(exchange, fault, options)

  const plan = { pieces: ['one ', 'two ', 'three ', 'four '] }
  const { events } = chatEvents(plan, exchange.request.body)
  const after = options.after ?? 0
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.flushHeaders()
  for (const event of events.slice(0, after)) await write(exchange, event)
  if (fault === 'hang') return
  if (fault === 'dribble') {
    await write(exchange, 'data: ')
    while (!exchange.left()) {
      await write(exchange, 'x')
      await sleep(20)
    }
    return
  }
  exchange.brokenOff = true
  if (fault === 'eof') {
    response.end()
  } else if (fault === 'cut') {
    // Waits until the data has left, because a reset overtakes it.
    await sleep(100)
    response.socket?.resetAndDestroy()
  } else {
    await write(exchange, BROKEN[fault] ?? '')
    if (fault !== 'error') for (const event of events.slice(after)) await write(exchange, event)
    response.end()
  }
}

const MID_STREAM = ['cut', 'eof', 'hang', 'malformed', 'error', 'huge', 'dribble'] as const
type MidStream = (typeof MID_STREAM)[number]
const isMidStream = (fault: ChatFault): fault is MidStream =>
  MID_STREAM.includes(fault as MidStream)

async function write(exchange: Exchange, text: string, splitBytes?: number): Promise<void> {
  const bytes = Buffer.from(text)
  const step = splitBytes ?? bytes.length
  for (let at = 0; at < bytes.length && !exchange.left(); at += step) {
    const drained = exchange.response.write(bytes.subarray(at, at + step))
    if (!drained) await Promise.race([once(exchange.response, 'drain'), closed(exchange)])
    else if (splitBytes !== undefined) await sleep(0)
  }
}

const closed = (exchange: Exchange) => once(exchange.response, 'close')
