/** A plain value where one process has the state alone, a promise where processes share it. */
export type Awaitable<Value> = Value | Promise<Value>

/** The window of a subject after `count` or `look`. */
export interface Standing {
  /** Whether the event was counted. */
  readonly counted: boolean
  /** Events of the window, this one included when it was counted. */
  readonly used: number
  /** Until the window ends. */
  readonly msLeft: number
}

/** Counts events in fixed windows that begin with a subject's first event. */
export interface RateWindows {
  /** Counts an event, unless the subject's window has `limit` of them already. */
  count(subject: string, limit: number): Awaitable<Standing>
  /** The same without counting it. */
  look(subject: string, limit: number): Awaitable<Standing>
  /** Undoes one `count`. */
  giveBack(subject: string): Awaitable<void>
}

/** Makes the windows of one kind of event; `name` tells them apart where they are shared. */
export type OpenWindows = (name: string, windowMs: number) => RateWindows
