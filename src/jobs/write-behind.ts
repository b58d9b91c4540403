import type { Clock } from '../core/clock.ts'
import { DatabaseAway, DiskFault } from '../core/errors.ts'
import { errorFields, type Logger } from '../core/log.ts'

/** The first item waits this long for others to be written with it. */
const WAIT_MS = 1_000
/** Rows of one write. */
const BATCH_ROWS = 200
/** Rows that are kept while the database is away; beyond it the oldest are dropped. */
const ROWS_HELD_MAX = 20_000

interface WriteBehindOptions {
  readonly clock: Pick<Clock, 'after'>
  readonly log: Logger
  /** For the server log. */
  readonly name: string
}

/**
 * Schedules writes that no caller waits for: a second after the first item or at once by `flush`,
 * one write after another. `writeOut` writes what has gathered, handles its own errors and resolves
 * with whether something is left, which is then tried again after a second.
 */
function createSchedule(clock: Pick<Clock, 'after'>, writeOut: () => Promise<boolean>) {
  let cancelTimer: (() => void) | null = null
  let writing: Promise<boolean> = Promise.resolve(false)
  let closed = false

  function start(): void {
    cancelTimer ??= clock.after(WAIT_MS, () => void flush())
  }

  async function write() {
    cancelTimer?.()
    cancelTimer = null
    const left = await writeOut()
    if (left && !closed) start()
    return left
  }

  /** Resolves when everything added before this call is written or was refused again. */
  async function flush(): Promise<void> {
    writing = writing.then(write)
    await writing
  }

  return {
    flush,
    betweenWrites<Result>(work: () => Promise<Result>): Promise<Result> {
      const done = writing.then(work)
      const left = writing
      writing = done.then(
        () => left,
        () => left,
      )
      return done
    },
    /** Called for each new item. */
    start,
    /** The last write; what was refused is tried once more. */
    async close(): Promise<void> {
      closed = true
      await flush()
      if (await writing) await flush()
    },
  }
}

/** Rows that are stored together or not at all. */
interface Batch<Row> {
  readonly rows: readonly Row[]
  /** Given at the first attempt, and kept while it is unknown whether the rows were stored. */
  number: number | null
  /** Whether the database has refused these rows before. */
  readonly refused: boolean
}

/** The database cannot be written to, whatever the rows are. */
const isAway = (error: unknown) => error instanceof DatabaseAway || error instanceof DiskFault

/**
 * Writes batches in their order. While the database is away, all of them wait. A batch that it
 * refuses is tried once more whole, then in halves, until the row that cannot be stored is alone
 * and is dropped: one bad row must not keep those of other tenants from being stored.
 */
function createBatchWriter<Row>({ log, name, write }: BatchWriterOptions<Row>) {
  const batches: Batch<Row>[] = []
  let last = 0

  /** Handles the failure of the first batch. False: nothing is to be written now. */
  function failed({ rows, refused }: Batch<Row>, error: unknown): boolean {
    log.error('rows not written', { queue: name, rows: rows.length, ...errorFields(error) })
    if (isAway(error)) return false
    // The statement that failed took the whole batch back, so these rows make new batches.
    batches.shift()
    if (refused && rows.length === 1) {
      log.error('row dropped', { queue: name, ...errorFields(error) })
      return true
    }
    const half = Math.ceil(rows.length / 2)
    const parts = refused ? [rows.slice(0, half), rows.slice(half)] : [rows]
    batches.unshift(...parts.map((part) => ({ rows: part, number: null, refused: true })))
    return refused
  }

  return {
    add(rows: readonly Row[]): void {
      batches.push({ rows, number: null, refused: false })
    },
    /** The rows of all batches that wait. */
    waiting: (): readonly Row[] => batches.flatMap(({ rows }) => rows),
    /** Resolves with whether batches are left. */
    async writeAll(): Promise<boolean> {
      for (let batch = batches[0]; batch; batch = batches[0]) {
        batch.number ??= ++last
        try {
          await write(batch.rows, batch.number)
          batches.shift()
        } catch (error) {
          if (!failed(batch, error)) return true
        }
      }
      return false
    },
  }
}

interface BatchWriterOptions<Row> extends Pick<WriteBehindOptions, 'log' | 'name'> {
  /**
   * Stores the rows. It may be called again with the same rows and the same number when it is not
   * known whether they were stored, as when the connection was lost; a later number is larger.
   */
  readonly write: (rows: readonly Row[], number: number) => Promise<void>
}

export type WriteBehindQueueOptions<Row> = WriteBehindOptions & BatchWriterOptions<Row>

/** Gathers rows and writes them `BATCH_ROWS` at a time, or what there is after a second. */
export function createWriteBehindQueue<Row>(options: WriteBehindQueueOptions<Row>) {
  const writer = createBatchWriter(options)
  let rows: Row[] = []

  /** Writes the gathered rows; rows that come meanwhile wait for the next write. */
  async function writeOut() {
    let left = await writer.writeAll()
    const due = left ? [] : rows
    if (!left) rows = []
    for (let at = 0; at < due.length && !left; at += BATCH_ROWS) {
      writer.add(due.slice(at, at + BATCH_ROWS))
      left = await writer.writeAll()
      if (left) rows = [...due.slice(at + BATCH_ROWS), ...rows]
    }
    if (left) rows = rows.slice(-ROWS_HELD_MAX)
    return left
  }

  const { flush, start, close } = createSchedule(options.clock, writeOut)
  return {
    add(row: Row): void {
      rows.push(row)
      // A tenth more, so that the list is not copied for every row.
      if (rows.length > ROWS_HELD_MAX * 1.1) rows = rows.slice(-ROWS_HELD_MAX)
      if (rows.length === BATCH_ROWS) void flush()
      else start()
    },
    flush,
    close,
  }
}

export interface WriteBehindSumsOptions<Item> extends WriteBehindOptions, BatchWriterOptions<Item> {
  /** Items of one key are summed up. */
  readonly keyOf: (item: Item) => string
  /** Adds an item to the first one of its key, which is the sum. */
  readonly addTo: (sum: Item, item: Item) => void
}

/**
 * Sums items up and writes the sums after a second, so that the number of writes follows the number
 * of keys and not the number of events. While sums cannot be written, others gather behind them.
 */
export function createWriteBehindSums<Item>(options: WriteBehindSumsOptions<Item>) {
  const { keyOf, addTo } = options
  const writer = createBatchWriter(options)
  let sums = new Map<string, Item>()

  function sumUp(item: Item): void {
    const key = keyOf(item)
    const sum = sums.get(key)
    if (sum === undefined) sums.set(key, item)
    else addTo(sum, item)
  }

  async function writeOut() {
    if (await writer.writeAll()) return true
    if (sums.size === 0) return false
    const batch = [...sums.values()]
    sums = new Map()
    writer.add(batch)
    return writer.writeAll()
  }

  const { flush, start, close, betweenWrites } = createSchedule(options.clock, writeOut)
  return {
    add(item: Item): void {
      sumUp(item)
      start()
    },
    flush,
    close,

    /**
     * Runs `work` while no write is under way, so that the stored and the waiting sums are
     * complete. `work` must read `waiting` before its first await.
     */
    betweenWrites: <Result>(work: (waiting: Iterable<Item>) => Promise<Result>) =>
      betweenWrites(() => work([...writer.waiting(), ...sums.values()])),
  }
}
