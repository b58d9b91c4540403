import { TURN_BYTES_AT_ONCE } from './limits/machine.ts'

/** A row, and the bytes of its texts. */
export interface Sized {
  readonly whole: number
}

/** The rows, in order, in groups that one transaction may copy or delete; each has one at least. */
export function inPieces<Row extends Sized>(rows: readonly Row[]): Row[][] {
  const pieces: Row[][] = []
  let bytes = Infinity
  for (const row of rows) {
    bytes += row.whole
    if (bytes <= TURN_BYTES_AT_ONCE) {
      pieces.at(-1)?.push(row)
    } else {
      pieces.push([row])
      bytes = row.whole
    }
  }
  return pieces
}
