import type { Clock } from '../core/clock.ts'
import { errorFields, type Logger } from '../core/log.ts'

/** The first item waits this long for others to be written with it. */
const WAIT_MS = 1_000
/** Rows of one write. */
const BATCH_ROWS = 200
/** Rows that are kept while the database is slow or refuses them; beyond it the oldest go. */
const ROWS_HELD_MAX = 20_000

interface WriteBehindOptions {
  readonly clock: Pick<Clock, 'after'>
  readonly log: Logger
  /** For the server log. */
  readonly name: string
}

/**
 * Schedules writes that no caller waits for: a second after the first item or at once by `flush`,
 * one write after another. `writeOut` writes what has gathered and handles its own errors.
 */
function createSchedule(clock: Pick<Clock, 'after'>, writeOut: () => Promise<void>) {
  let cancelTimer: (() => void) | null = null
  let writing: Promise<void> = Promise.resolve()

  async function write() {
    cancelTimer?.()
    cancelTimer = null
    await writeOut()
  }

  /** Resolves when everything added before this call is written or was refused again. */
  function flush(): Promise<void> {
    writing = writing.then(write)
    return writing
  }

  return {
    flush,
    betweenWrites<Result>(work: () => Promise<Result>): Promise<Result> {
      const done = writing.then(work)
      writing = done.then(
        () => {},
        () => {},
      )
      return done
    },
    /** Called for each new item. */
    start(): void {
      cancelTimer ??= clock.after(WAIT_MS, () => void flush())
    },
  }
}

export interface WriteBehindQueueOptions<Row> extends WriteBehindOptions {
  readonly write: (rows: readonly Row[]) => Promise<void>
}

/**
 * Gathers rows and writes them `BATCH_ROWS` at a time, or what there is after a second. A failed
 * write is tried again with the next one.
 */
export function createWriteBehindQueue<Row>(options: WriteBehindQueueOptions<Row>) {
  const { clock, log, name, write } = options
  let rows: Row[] = []

  /** Writes the gathered rows; rows that come meanwhile wait for the next write. */
  async function writeOut() {
    const due = rows
    rows = []
    for (let at = 0; at < due.length; at += BATCH_ROWS) {
      const batch = due.slice(at, at + BATCH_ROWS)
      try {
        await write(batch)
      } catch (error) {
        log.error('rows not written', { queue: name, rows: batch.length, ...errorFields(error) })
        rows = [...due.slice(at), ...rows].slice(-ROWS_HELD_MAX)
        return
      }
    }
  }

  const { flush, start } = createSchedule(clock, writeOut)
  return {
    add(row: Row): void {
      rows.push(row)
      // A tenth more, so that the list is not copied for every row.
      if (rows.length > ROWS_HELD_MAX * 1.1) rows = rows.slice(-ROWS_HELD_MAX)
      if (rows.length === BATCH_ROWS) void flush()
      else start()
    },
    flush,
    close: flush,
  }
}

export interface WriteBehindSumsOptions<Item> extends WriteBehindOptions {
  /** Items of one key are summed up. */
  readonly keyOf: (item: Item) => string
  /** Adds an item to the first one of its key, which is the sum. */
  readonly addTo: (sum: Item, item: Item) => void
  /** Adds the sums to those that are stored. */
  readonly write: (sums: readonly Item[]) => Promise<void>
}

/**
 * Sums items up and writes the sums after a second, so that the number of writes follows the number
 * of keys and not the number of events. Sums that could not be written are added to the next.
 */
export function createWriteBehindSums<Item>(options: WriteBehindSumsOptions<Item>) {
  const { clock, log, name, keyOf, addTo, write } = options
  let sums = new Map<string, Item>()

  function sumUp(item: Item): void {
    const key = keyOf(item)
    const sum = sums.get(key)
    if (sum === undefined) sums.set(key, item)
    else addTo(sum, item)
  }

  async function writeOut() {
    if (sums.size === 0) return
    const batch = [...sums.values()]
    sums = new Map()
    try {
      await write(batch)
    } catch (error) {
      log.error('counts not written', { sums: name, rows: batch.length, ...errorFields(error) })
      for (const item of batch) sumUp(item)
    }
  }

  const { flush, start, betweenWrites } = createSchedule(clock, writeOut)
  return {
    add(item: Item): void {
      sumUp(item)
      start()
    },
    flush,
    close: flush,

    /**
     * Runs `work` while no write is under way, so that the stored and the waiting sums are
     * complete. `work` must read `waiting` before its first await.
     */
    betweenWrites: <Result>(work: (waiting: Iterable<Item>) => Promise<Result>) =>
      betweenWrites(() => work(sums.values())),
  }
}
