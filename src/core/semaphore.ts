import { orAborted } from './abort.ts'

export interface SemaphoreOptions {
  /** Pieces of work at a time, of all keys together. */
  readonly slots?: number
  /** Pieces of work at a time of one key. */
  readonly perKey?: number
}

interface Entry {
  readonly key: string
  readonly start: () => void
}

/** Entries by key; the keys are in the order in which they are served. */
function createLine() {
  const queues = new Map<string, Entry[]>()
  return {
    keys: () => [...queues.keys()],
    has: (key: string) => queues.has(key),
    first: (key: string) => queues.get(key)?.[0],
    add(entry: Entry): void {
      const queue = queues.get(entry.key)
      if (queue) queue.push(entry)
      else queues.set(entry.key, [entry])
    },
    /** False when the entry was removed before. */
    remove(entry: Entry): boolean {
      const queue = queues.get(entry.key)
      const at = queue?.indexOf(entry) ?? -1
      if (!queue || at < 0) return false
      queue.splice(at, 1)
      if (queue.length === 0) queues.delete(entry.key)
      return true
    },
    moveToEnd(key: string): void {
      const queue = queues.get(key)
      if (queue && queues.delete(key)) queues.set(key, queue)
    },
  }
}

/**
 * A fair semaphore: work of one key (a tenant, an address) starts in the order it came, and free
 * slots go to the keys in turn, so that a key with a thousand waiting delays another key by one
 * piece of work at most. A key that is alone may use every slot, up to `perKey`.
 */
export function createSemaphore({ slots = Infinity, perKey = Infinity }: SemaphoreOptions) {
  const running = new Map<string, number>()
  const line = createLine()
  let total = 0

  const runningOf = (key: string) => running.get(key) ?? 0

  function take(key: string): void {
    total += 1
    running.set(key, runningOf(key) + 1)
  }

  function startWaiting(): void {
    for (const key of line.keys()) {
      if (total >= slots) return
      const entry = line.first(key)
      if (!entry || runningOf(key) >= perKey) continue
      line.remove(entry)
      line.moveToEnd(key)
      take(key)
      entry.start()
    }
  }

  function release(key: string): void {
    total -= 1
    const left = runningOf(key) - 1
    if (left > 0) running.set(key, left)
    else running.delete(key)
    startWaiting()
  }

  /**
   * Resolves with the function that gives the slot back; it may be called more than once. Rejects
   * with the signal's reason when the signal aborts before there was a slot.
   */
  async function acquire(key: string, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted()
    let held = true
    const releaseOnce = () => {
      if (held) release(key)
      held = false
    }
    if (total < slots && runningOf(key) < perKey && !line.has(key)) {
      take(key)
      return releaseOnce
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    const entry = { key, start: resolve }
    line.add(entry)
    try {
      await (signal ? orAborted(promise, signal) : promise)
    } catch (error) {
      // A slot that was given at the moment of the abort goes to the next in line.
      if (!line.remove(entry)) release(key)
      throw error
    }
    return releaseOnce
  }

  return {
    acquire,

    /** Settles as `work` does; rejects with the signal's reason when it aborts before its start. */
    async run<Result>(key: string, work: () => Promise<Result>, signal?: AbortSignal) {
      const release = await acquire(key, signal)
      return await work().finally(release)
    },
  }
}

export type Semaphore = ReturnType<typeof createSemaphore>
