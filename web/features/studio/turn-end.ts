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

/** Whether nothing was heard of the turn: the question may have arrived, or not. */
export const isUnheard = ({ state, after, reply, isInterrupted }: Turn): boolean =>
  state === 'failed' && after === 0 && reply === '' && !isInterrupted

/** Whether the question got no answer from the server. */
export const isUnreached = (turn: Turn): boolean => isUnheard(turn) && isNoAnswer(turn)

const isNoAnswer = ({ fault }: Turn): boolean =>
  fault !== null &&
  (fault.status === 0 ||
    (fault.status !== null && fault.status >= PROXY_FROM && fault.error === null))
