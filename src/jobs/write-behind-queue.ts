import type { Clock } from '../core/clock.ts'
import { errorFields, type Logger } from '../core/log.ts'
import { createWriteBehind } from './write-behind.ts'

export interface BufferOptions<Row> {
  readonly clock: Clock
  readonly log: Logger
  readonly name: string
  readonly write: (rows: readonly Row[]) => Promise<void>
}

const ROWS_MAX = 200
/**
 * Rows kept while the database refuses them; beyond it the oldest go, because memory is bounded.
 */
const ROWS_HELD_MAX = 20_000

/**
 * Gathers rows that no caller waits for and writes them 200 at a time or after a second, whichever
 * is first. A failed write is tried again with the next one.
 */
export function createBuffer<Row>(options: BufferOptions<Row>) {
  const { clock, log, name, write } = options
  let rows: Row[] = []

  async function writeOut() {
    while (rows.length > 0) {
      const batch = rows.slice(0, ROWS_MAX)
      rows = rows.slice(ROWS_MAX)
      try {
        await write(batch)
      } catch (error) {
        log.error('buffer not written', { buffer: name, rows: batch.length, ...errorFields(error) })
        rows = [...batch, ...rows].slice(-ROWS_HELD_MAX)
        return
      }
    }
  }

  const { flush, soon } = createWriteBehind(clock, writeOut)
  return {
    add(row: Row): void {
      rows.push(row)
      if (rows.length === ROWS_MAX) void flush()
      else soon()
    },
    flush,
    close: flush,
  }
}
