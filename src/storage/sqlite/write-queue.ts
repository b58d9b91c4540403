import type { Statement } from '../db.ts'

interface Waiting {
  readonly batch: readonly Statement[]
}

/** A group larger than this would make the first of its writers wait for the last. */
const GROUP_BATCHES_MAX = 256
/** A batch of this size takes milliseconds to write; a large document has a megabyte of terms. */
const LARGE_BYTES = 64 * 1024

/**
 * Batches that wait for the writer thread. Small ones are written together and in order. A large
 * one is written alone, and the small ones that wait go between two large ones: so a turn waits for
 * one document of other people and not for all that were sent at once.
 */
export function createWriteQueue<Item extends Waiting>() {
  const small: Item[] = []
  const large: Item[] = []
  let afterLarge = true

  return {
    add(item: Item): void {
      if (isLarge(item.batch)) large.push(item)
      else small.push(item)
    },
    /** The batches to be written next with one flush; empty when none waits. */
    next(): Item[] {
      const one = small.length === 0 || !afterLarge ? large.shift() : undefined
      afterLarge = one !== undefined
      return one ? [one] : small.splice(0, GROUP_BATCHES_MAX)
    },
  }
}

function isLarge(batch: readonly Statement[]): boolean {
  let bytes = 0
  for (const { args } of batch) {
    for (const arg of args) {
      if (typeof arg === 'string') bytes += arg.length
      else if (arg instanceof Uint8Array) bytes += arg.length
    }
  }
  return bytes > LARGE_BYTES
}
