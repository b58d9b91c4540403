import { fstatSync, statSync } from 'node:fs'

const STDOUT = 1

/** Control characters, and those that turn the direction of text. */
const UNPRINTABLE = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu

/**
 * The text without what a terminal would act upon. Names of models, files and backups come from
 * elsewhere and could move the cursor, clear the screen or write to the clipboard.
 */
export const printable = (text: string): string =>
  text.replaceAll(UNPRINTABLE, (unit) => (unit === '\n' || unit === '\t' ? unit : '?'))

/** As `printable`, for a value that must not begin a line of its own. */
export const printableLine = (text: string): string => text.replaceAll(UNPRINTABLE, '?')

/**
 * Standard output without `process.stdout`, which takes longer to load than a database to open.
 * Never waits for a slow reader, and goes on without one that is gone. Prints what is printable.
 */
export function openOutput(): (text: string) => void {
  const sink = Bun.stdout.writer()
  return (text) => {
    try {
      sink.write(printable(text))
      void Promise.resolve(sink.flush()).catch(() => {})
    } catch {
      // The reader has gone; the server goes on without it.
    }
  }
}

/** Whether the output is a terminal. */
export function isTerminal(): boolean {
  const out = fstatSync(STDOUT)
  if (!out.isCharacterDevice() || out.rdev === rdevOf('/dev/null')) return false
  return process.stdout.isTTY === true
}

const rdevOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.rdev
