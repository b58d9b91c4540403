import { ApiError } from '../../api/client.ts'
import type { Turn } from './turn.ts'

/** The turn whose stream has ended; one without `llm_end` or `error` was cut. */
export const cut = (turn: Turn): Turn =>
  turn.state === 'running' ? { ...turn, state: 'failed' } : turn

/** The turn after its request or its connection failed. */
export function broken(turn: Turn, error: unknown): Turn {
  if (!(error instanceof ApiError)) return cut(turn)
  const { message, status, error: name = null } = error
  // A connection that breaks in mid-answer has no status either; what was read so far is shown.
  return { ...turn, state: 'failed', fault: { message, status, error: name } }
}

const PROXY_FROM = 502

/** Whether the question got no answer from the server, which has then named no turn either. */
export const isUnreached = ({ state, turnId, reply, fault }: Turn): boolean =>
  state === 'failed' &&
  turnId === null &&
  reply === '' &&
  fault !== null &&
  (fault.status === 0 ||
    (fault.status !== null && fault.status >= PROXY_FROM && fault.error === null))
