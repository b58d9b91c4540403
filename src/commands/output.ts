import { fstatSync, statSync } from 'node:fs'

const STDOUT = 1

/**
 * Standard output without `process.stdout`, which takes longer to load than a database to open.
 * Never waits for a slow reader, and goes on without one that is gone.
 */
export function openOutput(): (text: string) => void {
  const sink = Bun.stdout.writer()
  return (text) => {
    try {
      sink.write(text)
      void Promise.resolve(sink.flush()).catch(() => {})
    } catch {
      // Nobody reads any more; a server has better to do than to end for that.
    }
  }
}

/** Whether a person looks at the output. */
export function isTerminal(): boolean {
  const out = fstatSync(STDOUT)
  if (!out.isCharacterDevice() || out.rdev === rdevOf('/dev/null')) return false
  return process.stdout.isTTY === true
}

const rdevOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.rdev
