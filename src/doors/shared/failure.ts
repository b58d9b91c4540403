import { AppError } from '../../core/errors.ts'
import type { AgentEvent } from '../../features/agent/events.ts'

/** Tells clients not to retry: a model was called, and they would pay twice. */
export function failureOf({ code, tokens }: Failed): AppError {
  const details = tokens ? { tokens } : {}
  const error = new AppError(code, {}, details)
  if (error.status !== 500) return error
  return new AppError(code, {}, { ...details, headers: { 'x-should-retry': 'false' } })
}

type Failed = Pick<Extract<AgentEvent, { type: 'error' }>, 'code' | 'tokens'>
