import type { Clock } from '../core/clock.ts'
import type { ErrorClass } from '../core/error-table.ts'
import { AppError } from '../core/errors.ts'

/** One step of a voice loop, for the request log. */
export interface Stage {
  readonly endpoint: '/v1/asr' | '/v1/agent' | '/v1/tts'
  readonly status: number
  readonly errorClass: ErrorClass | null
  readonly latencyMs: number
  readonly textChars: number | null
  readonly sessionId: string | null
  readonly channel: 'byo' | 'platform' | null
}

type Note = (more: Partial<Stage>) => void

/** Status and error class of a step in the request log; null is a step without an error. */
export function outcomeOf(error: unknown): Pick<Stage, 'status' | 'errorClass'> {
  if (error === null) return { status: 200, errorClass: null }
  if (!(error instanceof AppError)) return { status: 500, errorClass: 'internal' }
  return { status: error.status, errorClass: error.errorClass }
}

/** Measures a step and reports its outcome. */
export function stopwatch(clock: Pick<Clock, 'steady'>, onStage: (stage: Stage) => void) {
  return async <T>(endpoint: Stage['endpoint'], work: (note: Note) => Promise<T>): Promise<T> => {
    const startedAt = clock.steady()
    let stage: Omit<Stage, 'endpoint' | 'latencyMs'> = {
      ...outcomeOf(null),
      textChars: null,
      sessionId: null,
      channel: null,
    }
    try {
      return await work((more) => {
        stage = { ...stage, ...more }
      })
    } catch (error) {
      stage = { ...stage, ...outcomeOf(error) }
      throw error
    } finally {
      const latencyMs = Math.round(clock.steady() - startedAt)
      onStage({ ...stage, endpoint, latencyMs })
    }
  }
}
