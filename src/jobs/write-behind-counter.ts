import type { Clock } from '../core/clock.ts'
import { errorFields, type Logger } from '../core/log.ts'
import { createWriteBehind } from './write-behind.ts'

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

/**
 * Counts what nobody waits for and writes the sums after a second, so that the number of writes
 * follows the number of things counted and not how often they happen. What could not be written is
 * counted on and tried again with the next write.
 */
export function createTally<Item>(options: TallyOptions<Item>) {
  const { clock, log, name, nameOf, write } = options
  let counts = new Map<string, { item: Item; count: number }>()

  function add(item: Item, by = 1): void {
    const label = nameOf(item)
    const entry = counts.get(label)
    if (entry) entry.count += by
    else counts.set(label, { item, count: by })
  }

  async function writeOut() {
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

  const { flush, soon } = createWriteBehind(clock, writeOut)
  return {
    add(item: Item): void {
      add(item)
      soon()
    },
    flush,
    close: flush,
  }
}
