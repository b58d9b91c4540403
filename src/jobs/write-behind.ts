import type { Clock } from '../core/clock.ts'

/** Longest wait of what nobody waits for. */
const WAIT_MS = 1_000

/**
 * When things are written that nobody waits for: a second after the first came, or at once on
 * request, one write after another. `writeOut` writes what has gathered and handles its own faults.
 */
export function createWriteBehind(clock: Pick<Clock, 'after'>, writeOut: () => Promise<void>) {
  let cancelTimer: (() => void) | null = null
  let writing: Promise<void> = Promise.resolve()

  async function write() {
    cancelTimer?.()
    cancelTimer = null
    await writeOut()
  }

  /** Resolves when everything added before this call is written, or was refused once more. */
  function flush(): Promise<void> {
    writing = writing.then(write)
    return writing
  }

  return {
    flush,
    /** Something has come. */
    soon(): void {
      cancelTimer ??= clock.after(WAIT_MS, () => void flush())
    },
  }
}
