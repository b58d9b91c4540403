import { ApiError, connectionError, open } from './client.ts'
import type { AgentEvent, AppDraft } from './types.ts'

export interface TurnRequest {
  readonly text: string
  readonly session_id: string
  readonly app_id: string | null
  readonly images: readonly string[]
  readonly kb: boolean
  /** An app's form that is not saved; the turn runs as if it were. */
  readonly draft?: AppDraft
  /** The turn replaces the newest one. */
  readonly replace_last?: boolean
  readonly show_thinking?: boolean
}

/**
 * The events of one turn, in batches as they arrive. Throws `ApiError` when the stream could not be
 * opened or the connection broke, and the signal's reason when it was aborted.
 */
export async function* streamTurn(
  request: TurnRequest,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent[]> {
  const response = await open('/console/agent', request, signal)
  if (!response.body) throw new ApiError('', response.status)
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { value, done } = await reader.read().catch((error: unknown) => {
      throw signal.aborted ? error : connectionError()
    })
    if (done) return
    const frames = (rest + value).split('\n\n')
    rest = frames.pop() ?? ''
    const events = frames.flatMap(parseFrame)
    if (events.length > 0) yield events
  }
}

/** The `type` inside the data decides; comments have no data. */
function parseFrame(frame: string): AgentEvent[] {
  const data = frame
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5))
    .join('\n')
  return data.trim() === '' ? [] : [JSON.parse(data) as AgentEvent]
}
