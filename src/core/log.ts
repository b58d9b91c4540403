/**
 * The server's own log: one line an event with a name and flat fields, never message text, prompts
 * or secrets. JSON lines when the output is not a terminal.
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

/**
 * Drops lines below `level`. Writes at most ten warnings and errors of one kind a minute;
 * `left_out` in the next line counts the dropped ones. With `json` a line is a JSON object,
 * otherwise text.
 */
export function createLogger({ level, json, now, write }: LoggerOptions): Logger {
  const least = LOG_LEVELS.indexOf(level)
  const line = json ? jsonLine : textLine
  const at =
    (name: LogLevel) =>
    (event: string, fields: LogFields = {}) => {
      if (LOG_LEVELS.indexOf(name) >= least) write(line(now(), name, event, fields))
    }
  const leftOut = createThrottle(now)
  const seldom = (name: LogLevel) => {
    const tell = at(name)
    return (event: string, fields: LogFields = {}) => {
      // Failures of one tenant's channel must not hide those of the platform's.
      const count = leftOut(`${event} ${fields.channel ?? ''}`)
      if (count !== null) tell(event, count === 0 ? fields : { ...fields, left_out: count })
    }
  }
  return { debug: at('debug'), info: at('info'), warn: seldom('warn'), error: seldom('error') }
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

/** A logger that discards everything. */
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

/** Lines of one kind that are written in one window; further ones are only counted. */
const LINES_MAX = 10
const WINDOW_MS = 60_000

/**
 * Keeps a lasting fault from filling the disk, because tenants and upstreams decide how often it
 * happens. Each call returns how many lines of the kind were dropped since the last written one, or
 * null when this line is to be dropped as well.
 */
function createThrottle(now: () => Date) {
  const kinds = new Map<string, { since: number; lines: number; leftOut: number }>()

  return (kind: string): number | null => {
    const at = now().getTime()
    const known = kinds.get(kind)
    const age = known ? at - known.since : -1
    if (!known || age < 0 || age >= WINDOW_MS) {
      kinds.set(kind, { since: at, lines: 1, leftOut: 0 })
      return known?.leftOut ?? 0
    }
    if (known.lines < LINES_MAX) {
      known.lines++
      return 0
    }
    known.leftOut++
    return null
  }
}
