/** What a server acknowledged, and the requests that were open when it died. */
export interface Ledger {
  /** Texts of the acknowledged turns of each session, in order, and an unanswered one, if any. */
  readonly sessions: Map<string, { said: string[]; doubtful: string | null }>
  readonly docs: Book
  readonly devices: Book
  /** Keys of devices, by device. */
  readonly keys: Map<string, string>
  readonly acknowledged: { turns: number; docs: number; devices: number; keys: number }
}

/** Rows that are created and deleted, by id. */
export interface Book {
  readonly there: Map<string, string>
  readonly gone: Set<string>
  /** Ids whose deletion was not acknowledged. */
  readonly doubtful: Set<string>
}

const book = (): Book => ({ there: new Map(), gone: new Set(), doubtful: new Set() })

export const createLedger = (): Ledger => ({
  sessions: new Map(),
  docs: book(),
  devices: book(),
  keys: new Map(),
  acknowledged: { turns: 0, docs: 0, devices: 0, keys: 0 },
})

/** Differences between a list of the server and the ledger, in words; empty without any. */
export function compare(
  kind: string,
  { there, gone, doubtful }: Book,
  shown: ReadonlyMap<string, string>,
) {
  const lost = [...there.keys()].filter((id) => !shown.has(id) && !doubtful.has(id))
  const back = [...gone].filter((id) => shown.has(id))
  return [
    ...lost.map((id) => `${kind} ${id} was acknowledged and is lost`),
    ...back.map((id) => `${kind} ${id} was deleted and is back`),
  ]
}

/** Pseudo-random numbers, the same for one seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
