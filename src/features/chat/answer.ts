import { AppError, appError } from '../../core/errors.ts'
import type { AgentEvent } from '../agent/events.ts'
import type { ModelAnswer } from '../agent/model-loop.ts'
import type { OpenedTurn } from '../agent/service.ts'

export interface WholeAnswer {
  readonly answer: ModelAnswer
  /** The events of the turn but for its text. */
  readonly events: readonly AgentEvent[]
}

/** Runs a turn whose answer is sent as a whole. Throws what its `error` event tells. */
export async function drain(turn: OpenedTurn, signal: AbortSignal): Promise<WholeAnswer> {
  const events: AgentEvent[] = []
  const answer = await turn.run(signal, (batch) => {
    for (const event of batch) if (event.type !== 'llm_delta') events.push(event)
    return undefined
  })
  if (answer) return { answer, events }
  const failure = events.find((event) => event.type === 'error')
  if (failure) throw failureOf(new AppError(failure.code, {}))
  throw signal.reason instanceof AppError ? signal.reason : appError('client_closed')
}

/** A model was called for it: clients that try again by themselves would pay twice. */
const failureOf = (error: AppError): AppError =>
  error.status === 500
    ? new AppError(error.code, {}, { headers: { 'x-should-retry': 'false' } })
    : error
