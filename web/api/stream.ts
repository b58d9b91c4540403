import { ANSWER_MS, ApiError, connectionError, open, reopen, segment } from './client.ts'
import type { AppDraft, StudioEvent } from './types.ts'

export interface TurnRequest {
  /** The name under which the server takes the question once. */
  readonly turn_id: string
  readonly text: string
  readonly session_id: string
  readonly app_id: string | null
  readonly images: readonly string[]
  /** Ids of files that the server has been sent. */
  readonly files?: readonly string[]
  readonly kb: boolean
  /** The collections that are searched; absent: all that the assistant sees. */
  readonly collections?: readonly string[]
  /** An app's form that is not saved; the turn runs as if it were. */
  readonly draft?: AppDraft
  /** The model of this turn alone, and about how many words its answer is to have. */
  readonly model?: string
  readonly answer_words?: number
  /** The turn replaces the newest one. */
  readonly replace_last?: boolean
  readonly show_thinking?: boolean
  /** The earlier turns of a talk that is stored nowhere; absent: the session has them. */
  readonly temporary?: readonly { readonly text: string; readonly reply: string }[]
  /** Whether somebody is there who answers what the turn asks. */
  readonly interactive?: boolean
}

export interface EventBatch {
  readonly events: readonly StudioEvent[]
  /** The number of the last event; null where the server does not count them. */
  readonly last: number | null
}

/** The server gives a sign every eight seconds. */
const SILENT_MS = 25_000

/**
 * The events of a new turn, in batches as they arrive. Leaving ends a temporary turn alone. Throws
 * `ApiError` when the stream could not be opened or the connection broke, and the signal's reason
 * when it was aborted.
 */
export async function* streamTurn(
  request: TurnRequest,
  signal: AbortSignal,
): AsyncGenerator<EventBatch> {
  const detached = request.temporary === undefined
  yield* read(await open('/console/agent', { ...request, detached }, signal), signal)
}

/** The events of a turn that is known to the server, from after the event of this number on. */
export async function* followTurn(
  turn: string,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<EventBatch> {
  const path = `/console/agent/turns/${segment(turn)}/events?after=${after}`
  yield* read(await inTime((own) => reopen(path, own), signal), signal)
}

/** What comes soon. Throws `ApiError` for what does not: connections that were open may be gone. */
async function inTime(
  ask: (signal: AbortSignal) => Promise<Response>,
  signal: AbortSignal,
): Promise<Response> {
  const own = new AbortController()
  const leave = () => own.abort(signal.reason)
  signal.addEventListener('abort', leave)
  if (signal.aborted) leave()
  const late = setTimeout(() => own.abort(), ANSWER_MS)
  try {
    return await ask(own.signal)
  } catch (error) {
    throw own.signal.aborted && !signal.aborted ? connectionError() : error
  } finally {
    clearTimeout(late)
  }
}

async function* read(response: Response, signal: AbortSignal): AsyncGenerator<EventBatch> {
  if (!response.body) throw new ApiError('', response.status)
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    // A connection may be gone without a word: then the stream counts as ended.
    const silence = setTimeout(() => void reader.cancel(), SILENT_MS)
    const { value, done } = await reader
      .read()
      .catch((error: unknown) => {
        throw signal.aborted ? error : connectionError()
      })
      .finally(() => clearTimeout(silence))
    if (done) return
    const frames = (rest + value).split('\n\n')
    rest = frames.pop() ?? ''
    const events = frames.flatMap(parseFrame)
    if (events.length > 0) yield { events, last: lastIdOf(frames) }
  }
}

/** The `type` inside the data decides; comments have no data. */
function parseFrame(frame: string): StudioEvent[] {
  const data = linesOf(frame, 'data:').join('\n')
  return data.trim() === '' ? [] : [JSON.parse(data) as StudioEvent]
}

const linesOf = (frame: string, field: string): string[] =>
  frame
    .split('\n')
    .filter((line) => line.startsWith(field))
    .map((line) => line.slice(field.length))

function lastIdOf(frames: readonly string[]): number | null {
  const id = frames.flatMap((frame) => linesOf(frame, 'id:')).at(-1)
  return id === undefined ? null : Number(id)
}
