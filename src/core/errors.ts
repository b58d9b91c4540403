import {
  CLASSES,
  ERRORS,
  type ErrorClass,
  type ErrorStatus,
  type What,
  WORDS,
} from './error-table.ts'

export type ErrorCode = keyof typeof ERRORS
export type RateLimitCode = Extract<ErrorCode, `rate_limited${string}`>

/** The names in braces of a sentence. */
type NamesIn<Sentence> = Sentence extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never

/** The values that the sentence of a code is filled with: field names and numbers of ours. */
export type ErrorParams<Code extends ErrorCode> = {
  readonly [Name in NamesIn<(typeof ERRORS)[Code][1]>]: Name extends 'what' ? What : string | number
}

export interface ErrorDetails {
  readonly headers?: Readonly<Record<string, string>>
  readonly cause?: unknown
  /** In place of the status of the code, where an endpoint answers with another one. */
  readonly status?: ErrorStatus
  /** Where in the body the error is, such as `messages[2].content[0].type`. */
  readonly param?: string
  /** `code` in OpenAI's form of the error, where the table's word for our code is too general. */
  readonly openAiCode?: string
}

/** An error that the caller receives, with the status and the sentence of its code. */
export class AppError extends Error {
  override readonly name = 'AppError'
  readonly status: ErrorStatus
  readonly headers: Readonly<Record<string, string>>

  /** Made by `appError`, which checks that the values belong to the code. */
  constructor(
    readonly code: ErrorCode,
    readonly params: Readonly<Record<string, string | number>>,
    readonly details: ErrorDetails = {},
  ) {
    super(sentenceOf(code, params), { cause: details.cause })
    this.status = details.status ?? ERRORS[code][0]
    this.headers = details.headers ?? {}
  }

  get errorClass(): ErrorClass {
    return CLASSES[this.status]
  }
}

function sentenceOf(code: ErrorCode, params: Readonly<Record<string, string | number>>): string {
  return ERRORS[code][1].replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(params[name])
    return WORDS[name]?.[value] ?? value
  })
}

type ErrorArguments<Code extends ErrorCode> = [keyof ErrorParams<Code>] extends [never]
  ? [params?: Readonly<Record<string, never>>, details?: ErrorDetails]
  : [params: ErrorParams<Code>, details?: ErrorDetails]

/** `throw appError('quota_docs', { max: 50 })` */
export const appError = <Code extends ErrorCode>(
  code: Code,
  ...[params = {}, details]: ErrorArguments<Code>
) => new AppError(code, params, details)

/**
 * An error as the message of a schema's rule: `code?name=value`. `checked` (core/fields.ts)
 * makes the `AppError` of it.
 */
export function issue<Code extends ErrorCode>(
  code: Code,
  ...[params = {}]: ErrorArguments<Code>
): string {
  return `${code}?${encodeParams(params)}`
}

/** The error of a message that `issue` made; null for any other message. */
export function errorOfIssue(message: string, details: ErrorDetails): AppError | null {
  const [code = '', query] = message.split('?', 2)
  if (query === undefined || !Object.hasOwn(ERRORS, code)) return null
  return new AppError(code as ErrorCode, Object.fromEntries(new URLSearchParams(query)), details)
}

/** `X-Error-Params`: the values of a sentence as in the query of a URL. */
export const encodeParams = (params: Readonly<Record<string, string | number>>): string =>
  new URLSearchParams(
    Object.entries(params).map(([name, value]) => [name, String(value)]),
  ).toString()

/** The disk that holds the data refused a write: full, broken, or mounted read-only. */
export class DiskFault extends Error {
  override readonly name = 'DiskFault'

  constructor(
    readonly trouble: 'disk_full' | 'disk_error',
    /** The storage's own error code, for the operator. */
    readonly code: string,
    message: string,
  ) {
    super(message)
  }
}

/** The database does not answer, or takes no writes: what needs it fails until it does. */
export class DatabaseAway extends Error {
  override readonly name = 'DatabaseAway'

  constructor(
    /** The error code of the driver or the server, for the operator. */
    readonly code: string,
    message: string,
  ) {
    super(message)
  }
}

/**
 * An unexpected error. The caller learns no more than whether the disk is full or the database is
 * away; the operator finds `cause` in the server log.
 */
export function internalError(cause?: unknown): AppError {
  if (cause instanceof DatabaseAway) return appError('database_stopped', {}, { cause })
  const isFull = cause instanceof DiskFault && cause.trouble === 'disk_full'
  return isFull ? appError('disk_full', {}, { cause }) : appError('internal', {}, { cause })
}
