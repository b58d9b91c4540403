/** Thrown when a share would grow beyond what its owner may hold. */
export class BudgetExceeded extends Error {
  constructor() {
    super('memory budget exceeded')
  }
}

/** What a text takes in memory: two bytes for each UTF-16 unit. */
export const bytesOfText = (text: string): number => 2 * text.length

/** An owner may hold this many times what is free (see `createMemoryBudget`). */
const GREED = 8

/**
 * One budget for what requests hold in memory: bodies, answers under way, text of upstreams.
 * Owners are tenants or client addresses.
 *
 * The rule is a dynamic threshold (Choudhury and Hahne, "Dynamic queue length thresholds for
 * shared-memory packet switches", 1998): an owner grows while it holds at most `GREED` times what
 * is free. An owner that is alone gets 8/9 of the budget, two get 8/17 each, and a part always
 * stays free for the next one.
 *
 * `sureBytes` of each share are granted to an owner that holds little (at most `GREED` such
 * shares), even when the budget is spent: short turns go on beside another owner's long ones.
 */
export function createMemoryBudget(totalBytes: number, sureBytes = 0) {
  const owners = new Map<string, number>()
  let used = 0

  function add(owner: string, bytes: number): void {
    used += bytes
    const held = (owners.get(owner) ?? 0) + bytes
    if (held > 0) owners.set(owner, held)
    else owners.delete(owner)
  }

  function fits(owner: string, bytes: number, share: number): boolean {
    const held = (owners.get(owner) ?? 0) + bytes
    if (share + bytes <= sureBytes && held <= sureBytes * GREED) return true
    return held <= (totalBytes - used - bytes) * GREED
  }

  /** A share that grows piece by piece and is closed as a whole. */
  class Share {
    readonly #owner: string
    #bytes = 0

    constructor(owner: string) {
      this.#owner = owner
    }

    get bytes(): number {
      return this.#bytes
    }

    /** Counts `bytes` more, or fewer when negative; all or `BudgetExceeded`. */
    add(bytes: number): void {
      if (bytes > 0 && !fits(this.#owner, bytes, this.#bytes)) throw new BudgetExceeded()
      this.#bytes += bytes
      add(this.#owner, bytes)
    }

    /** Gives everything back; a closed share counts nothing. */
    close(): void {
      add(this.#owner, -this.#bytes)
      this.#bytes = 0
    }
  }

  return {
    open: (owner: string) => new Share(owner),

    /** Bytes that are held by all owners, for `/metrics` and tests. */
    get used(): number {
      return used
    },
  }
}

export type MemoryBudget = ReturnType<typeof createMemoryBudget>
export type MemoryShare = ReturnType<MemoryBudget['open']>
