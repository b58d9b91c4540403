import { AppError, appError, type ErrorCode } from '../../core/errors.ts'
import type { AgentEvent } from '../agent/events.ts'
import type { ModelAnswer } from '../agent/model-loop.ts'
import type { OpenedTurn } from '../agent/service.ts'

/**
 * Runs a turn whose answer is sent as a whole; `read` gets its events. Throws what its `error`
 * event tells.
 */
export async function drain(
  turn: OpenedTurn,
  signal: AbortSignal,
  read: (events: readonly AgentEvent[]) => void,
): Promise<ModelAnswer> {
  let failure: ErrorCode | null = null
  const answer = await turn.run(signal, (events) => {
    for (const event of events) if (event.type === 'error') failure = event.code
    read(events)
    return undefined
  })
  if (answer) return answer
  if (failure) throw failureOf(failure)
  throw signal.reason instanceof AppError ? signal.reason : appError('client_closed')
}

/** A model was called for it: clients that try again by themselves would pay twice. */
function failureOf(code: ErrorCode): AppError {
  const error = new AppError(code, {})
  if (error.status !== 500) return error
  return new AppError(code, {}, { headers: { 'x-should-retry': 'false' } })
}
