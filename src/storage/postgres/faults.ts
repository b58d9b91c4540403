import { DatabaseAway, DiskFault } from '../../core/errors.ts'

/**
 * SQLSTATE of a server that stops, starts, takes no writes, or has no connection, no memory or no
 * healthy disk for them.
 */
const AWAY = /^(?:08|57P|53|58000|58030|25006|28|3D000)/
const FULL = '53100'
/**
 * The server ended a statement that took too long, that was asked to stop, or that waited too long
 * for a lock of somebody else.
 */
const ENDED = new Set(['57014', '55P03'])
const SLOW = 'slow'
/** A serialization failure or deadlock: the transaction may be run again. */
const AGAIN = /^40/
/** Their messages may quote a value. */
const QUOTES = /^(?:22|23)/

interface Raised {
  readonly code?: unknown
  readonly message?: unknown
  readonly constraint?: unknown
  /** Only errors of the server itself have one. */
  readonly severity?: unknown
}

/** An error of the server about a statement. */
export class StatementError extends Error {
  override readonly name = 'StatementError'

  /** `code` is the SQLSTATE. */
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message)
  }

  get mayRunAgain(): boolean {
    return AGAIN.test(this.code)
  }
}

/** Whether the database is there, and only this statement took too long. */
export const isSlow = ({ code }: DatabaseAway): boolean => code === SLOW

/** The fault of a statement that did not come to its end in time, in a database that is there. */
export const tooSlow = (message: string) => new DatabaseAway(SLOW, message)

/** Turns the driver's error into one of ours, without the statement, its values or the password. */
export function faultOf(error: unknown): Error {
  if (error instanceof DatabaseAway || error instanceof StatementError) return error
  const raised = (error ?? {}) as Raised
  const { code: raw, message, constraint } = raised
  const code = String(raw ?? '')
  const text = String(message ?? 'the database failed')
  if (raised.severity === undefined) return new DatabaseAway(code || 'lost', text)
  if (code === FULL) return new DiskFault('disk_full', code, text)
  if (AWAY.test(code)) return new DatabaseAway(code, text)
  if (ENDED.has(code)) return tooSlow('the statement took too long')
  if (QUOTES.test(code)) return new StatementError(code, `${code} ${String(constraint ?? '')}`)
  return new StatementError(code, text)
}
