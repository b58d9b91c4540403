/**
 * The one error vocabulary of the product (specification, Errors; contract section 4, log rows).
 * The code decides the HTTP status and is the `error_class` of the request log. The message is a
 * short Chinese sentence that is safe to show: never a stack, path, SQL, upstream text, key or URL.
 */
const STATUS = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  gone: 410,
  too_large: 413,
  rate_limited: 429,
  internal: 500,
  upstream: 502,
  unavailable: 503,
} as const

export type ErrorCode = keyof typeof STATUS

/** An error that the caller is told of, in these words and with this status. */
export class AppError extends Error {
  override readonly name = 'AppError'

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
    options?: ErrorOptions,
  ) {
    super(message, options)
  }

  get status(): number {
    return STATUS[this.code]
  }
}

export const badRequest = (message: string) => new AppError('bad_request', message)
export const unauthorized = (message = '未授权：缺少有效凭证') =>
  new AppError('unauthorized', message)
/** Missing, malformed, unknown and revoked keys are one and the same to whoever tries them. */
export const KEY_REFUSED = '未授权：API 密钥缺失、无效或已被吊销'
export const forbidden = (message: string) => new AppError('forbidden', message)
export const notFound = (message = '资源不存在') => new AppError('not_found', message)
export const methodNotAllowed = (allow: readonly string[]) =>
  new AppError('method_not_allowed', '该路径不支持此请求方法', { allow: allow.join(', ') })
export const gone = (message: string) => new AppError('gone', message)
export const tooLarge = (message = '请求体过大') => new AppError('too_large', message)
export const upstream = (message: string, cause?: unknown) =>
  new AppError('upstream', message, {}, { cause })
export const unavailable = (message: string, headers?: Record<string, string>) =>
  new AppError('unavailable', message, headers)

/** `seconds` until a slot is free; rounded up to at least 1 (specification, Errors 429). */
export const rateLimited = (
  seconds: number,
  headers: Record<string, string> = {},
  message = '请求过于频繁，请稍后再试',
) =>
  new AppError('rate_limited', message, {
    ...headers,
    'retry-after': String(Math.max(1, Math.ceil(seconds))),
  })

/** The disk that the data lies on took nothing: full, broken, or mounted without the right to. */
export class DiskFault extends Error {
  override readonly name = 'DiskFault'

  constructor(
    readonly trouble: 'disk_full' | 'disk_error',
    /** The storage's own word, for the operator. */
    readonly code: string,
    message: string,
  ) {
    super(message)
  }
}

/**
 * Anything unexpected: the caller learns nothing but that the disk is full, which explains what
 * works and what does not; the operator finds `cause` in the server log.
 */
export const internal = (cause?: unknown) => {
  const full = cause instanceof DiskFault && cause.trouble === 'disk_full'
  const message = full ? '服务器存储空间已满，内容未保存，请稍后重试' : '服务器内部错误'
  return new AppError('internal', message, {}, { cause })
}
