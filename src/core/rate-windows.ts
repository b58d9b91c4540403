import type { Clock } from './clock.ts'
import { RATE_WINDOWS_MAX } from './limits/machine.ts'

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

interface Window {
  /** On the steady clock. */
  readonly startedAt: number
  used: number
}

/** Windows in the memory of this process: a restart clears them. */
export function createRateWindows(clock: Pick<Clock, 'steady'>, windowMs: number): RateWindows {
  // In order of their start, so ended windows are at the front.
  const windows = new Map<string, Window>()

  const isOpen = ({ startedAt }: Window) => clock.steady() - startedAt < windowMs

  /** Drops open windows, too, beyond the maximum: strangers can begin any number of them. */
  function dropEnded() {
    for (const [subject, window] of windows) {
      if (isOpen(window) && windows.size < RATE_WINDOWS_MAX) return
      windows.delete(subject)
    }
  }

  function openWindow(subject: string): Window | null {
    const current = windows.get(subject)
    return current && isOpen(current) ? current : null
  }

  const standing = ({ startedAt, used }: Window, counted: boolean): Standing => ({
    counted,
    used,
    msLeft: startedAt + windowMs - clock.steady(),
  })

  return {
    count(subject, limit) {
      let window = openWindow(subject)
      if (!window) {
        dropEnded()
        window = { startedAt: clock.steady(), used: 0 }
        windows.set(subject, window)
      }
      const counted = window.used < limit
      if (counted) window.used += 1
      return standing(window, counted)
    },

    look(subject, limit) {
      const window = openWindow(subject) ?? { startedAt: clock.steady(), used: 0 }
      return standing(window, window.used < limit)
    },

    giveBack(subject) {
      const window = openWindow(subject)
      if (window && window.used > 0) window.used -= 1
    },
  }
}
