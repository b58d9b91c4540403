import type { Clock } from '../core/clock.ts'
import { errorFields, type Logger } from '../core/log.ts'

/** How often something happened since it was last written. */
export interface Count<Item> {
  readonly item: Item
  readonly count: number
}

export interface TallyOptions<Item> {
  readonly clock: Clock
  readonly log: Logger
  readonly name: string
  /** Items of one name are counted together. */
  readonly nameOf: (item: Item) => string
  /** Adds the counts to what is stored already. */
  readonly write: (counts: readonly Count<Item>[]) => Promise<void>
}

const WAIT_MS = 1_000

/**
 * Counts what nobody waits for and writes the sums after a second, so that the number of writes
 * follows the number of things counted and not how often they happen. What could not be written is
 * counted on and tried again with the next write.
 */
export function createTally<Item>(options: TallyOptions<Item>) {
  const { clock, log, name, nameOf, write } = options
  let counts = new Map<string, { item: Item; count: number }>()
  let cancelTimer: (() => void) | null = null
  let writing: Promise<void> = Promise.resolve()

  function add(item: Item, by = 1): void {
    const label = nameOf(item)
    const entry = counts.get(label)
    if (entry) entry.count += by
    else counts.set(label, { item, count: by })
  }

  async function writeOut() {
    cancelTimer?.()
    cancelTimer = null
    if (counts.size === 0) return
    const taken = [...counts.values()]
    counts = new Map()
    try {
      await write(taken)
    } catch (error) {
      log.error('counts not written', { tally: name, counts: taken.length, ...errorFields(error) })
      for (const { item, count } of taken) add(item, count)
    }
  }

  /** Resolves when everything counted before this call is written, or was refused once more. */
  function flush(): Promise<void> {
    writing = writing.then(writeOut)
    return writing
  }

  return {
    add(item: Item): void {
      add(item)
      cancelTimer ??= clock.after(WAIT_MS, () => void flush())
    },
    flush,
    close: flush,
  }
}
