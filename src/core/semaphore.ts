import { orAborted } from './abort.ts'

export interface SemaphoreOptions {
  /** Pieces of work at a time, of all keys together. */
  readonly slots?: number
  /** Pieces of work at a time of one key. */
  readonly perKey?: number
  /**
   * For work that holds its slot for long, such as an open stream: a key starts more only while it
   * holds at most this many times what is free, so that other keys need not wait for its end.
   */
  readonly greed?: number
}

interface WaitingStart {
  readonly key: string
  readonly start: () => void
}

/** Entries by key; the keys are in the order in which they are served. */
function createLine() {
  const queues = new Map<string, WaitingStart[]>()
  return {
    keys: () => [...queues.keys()],
    has: (key: string) => queues.has(key),
    first: (key: string) => queues.get(key)?.[0],
    add(entry: WaitingStart): void {
      const queue = queues.get(entry.key)
      if (queue) queue.push(entry)
      else queues.set(entry.key, [entry])
    },
    /** False when the entry was removed before. */
    remove(entry: WaitingStart): boolean {
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

/** Slots that are held, by key. */
function createHeld() {
  const byKey = new Map<string, number>()
  let total = 0
  return {
    of: (key: string) => byKey.get(key) ?? 0,
    total: () => total,
    add(key: string, count: 1 | -1): void {
      total += count
      const held = (byKey.get(key) ?? 0) + count
      if (held > 0) byKey.set(key, held)
      else byKey.delete(key)
    },
  }
}

/**
 * A fair semaphore: work of one key (a tenant, an address) starts in the order it came, and free
 * slots go to the keys in turn, so that a key with a thousand waiting delays another key by one
 * piece of work at most. A key that is alone may use every slot, up to `perKey`.
 */
export function createSemaphore(options: SemaphoreOptions) {
  const { slots = Infinity, perKey = Infinity, greed = Infinity } = options
  const held = createHeld()
  const line = createLine()

  function mayStart(key: string): boolean {
    const free = slots - held.total()
    return free > 0 && held.of(key) < perKey && held.of(key) < free * greed
  }

  function startWaiting(): void {
    for (const key of line.keys()) {
      if (held.total() >= slots) return
      const entry = line.first(key)
      if (!entry || !mayStart(key)) continue
      line.remove(entry)
      line.moveToEnd(key)
      held.add(key, 1)
      entry.start()
    }
  }

  function release(key: string): void {
    held.add(key, -1)
    startWaiting()
  }

  /**
   * Resolves with the function that gives the slot back; it may be called more than once. Rejects
   * with the signal's reason when the signal aborts before there was a slot.
   */
  async function acquire(key: string, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted()
    let holds = true
    const releaseOnce = () => {
      if (holds) release(key)
      holds = false
    }
    if (mayStart(key) && !line.has(key)) {
      held.add(key, 1)
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

    /** How many pieces of work have a slot. */
    held: held.total,

    /** Settles as `work` does; rejects with the signal's reason when it aborts before its start. */
    async run<Result>(key: string, work: () => Promise<Result>, signal?: AbortSignal) {
      const release = await acquire(key, signal)
      try {
        return await work()
      } finally {
        release()
      }
    },
  }
}

export type Semaphore = ReturnType<typeof createSemaphore>
