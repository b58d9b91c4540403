import { ChannelFailure, type FailureReason } from '../../channels/ports/failure.ts'
import { AppError, DiskFault, internal } from '../../core/errors.ts'
import { errorFields, type Logger } from '../../core/log.ts'
import type { Tell } from './events.ts'

/** What a person is told; upstream text is never passed on. */
const SENTENCES: Readonly<Record<FailureReason, string>> = {
  retry_exhausted: '模型服务繁忙或无法连接，已重试仍未成功，请稍后再试',
  upstream_4xx: '模型服务拒绝了请求，请检查模型通道的地址、密钥和模型名',
  upstream_5xx: '模型服务暂时故障，请稍后再试',
  channel_unavailable: '模型通道不可用，请检查通道配置',
  provider_error: '模型服务的回复中断或格式异常，请重试',
}

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
  await tell([{ type: 'error', message: failureMessage(error) }])
}

function failureMessage(error: unknown): string {
  if (error instanceof ChannelFailure) return SENTENCES[error.reason]
  if (error instanceof AppError) return error.message
  if (error instanceof DiskFault) return internal(error).message
  return '服务器内部错误，本轮未保存，请重试'
}
