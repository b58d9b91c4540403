import { ChannelFailure, type FailureReason } from '../../channels/ports/failure.ts'
import { AppError, appError, DiskFault, internalError } from '../../core/errors.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import type { Tell } from './events.ts'

/** What a person is told; upstream text is never passed on. */
const CODES = {
  retry_exhausted: 'model_retry_exhausted',
  upstream_4xx: 'model_upstream_4xx',
  upstream_5xx: 'model_upstream_5xx',
  channel_unavailable: 'model_channel_unavailable',
  provider_error: 'model_provider_error',
} as const satisfies Record<FailureReason, string>

/** Ends a turn that failed with an `error` event, or silently when the client left. */
export async function tellFailure(
  error: unknown,
  log: Logger,
  signal: AbortSignal,
  tell: Tell,
): Promise<void> {
  if (signal.aborted) return
  const known = error instanceof ChannelFailure || error instanceof AppError
  if (!known) log.error('turn failed', errorFields(error))
  const { code, message } = errorOf(error)
  await tell([{ type: 'error', message, code }])
}

function errorOf(error: unknown): AppError {
  if (error instanceof ChannelFailure) return appError(CODES[error.reason])
  if (error instanceof AppError) return error
  if (error instanceof DiskFault && error.trouble === 'disk_full') return internalError(error)
  return appError(error instanceof DiskFault ? 'internal' : 'turn_failed')
}
