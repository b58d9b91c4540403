/**
 * The server's own log: one line an event with a name and flat fields, never message text, prompts
 * or secrets. JSON lines when the output is not a terminal (contract, MB_LOG_LEVEL).
 */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>

export interface Logger {
  debug(event: string, fields?: LogFields): void
  info(event: string, fields?: LogFields): void
  warn(event: string, fields?: LogFields): void
  error(event: string, fields?: LogFields): void
}

export interface LoggerOptions {
  readonly level: LogLevel
  readonly json: boolean
  readonly now: () => Date
  readonly write: (line: string) => void
}

/** Drops what is below `level`. `json` gives a JSON object a line, else a line for a person. */
export function createLogger({ level, json, now, write }: LoggerOptions): Logger {
  const least = LOG_LEVELS.indexOf(level)
  const at =
    (name: LogLevel) =>
    (event: string, fields: LogFields = {}) => {
      if (LOG_LEVELS.indexOf(name) < least) return
      write(json ? jsonLine(now(), name, event, fields) : textLine(now(), name, event, fields))
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

function jsonLine(time: Date, level: LogLevel, event: string, fields: LogFields): string {
  return `${JSON.stringify({ time: time.toISOString(), level, event, ...fields })}\n`
}

function textLine(time: Date, level: LogLevel, event: string, fields: LogFields): string {
  const pairs = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  const clock = time.toTimeString().slice(0, 8)
  return `${[clock, level.padEnd(5), event, ...pairs].join(' ')}\n`
}

/** Where nobody reads along. */
export const NO_LOG: Logger = { debug() {}, info() {}, warn() {}, error() {} }

/** What an operator may see of an unexpected error: its class, code and stack, on one line. */
export function errorFields(error: unknown): LogFields {
  if (!(error instanceof Error)) return { error: typeof error }
  const code = (error as { code?: unknown }).code
  return {
    error: error.name,
    ...(code === undefined ? {} : { code: String(code) }),
    message: error.message.slice(0, 300),
    at: error.stack?.split('\n')[1]?.trim(),
  }
}
