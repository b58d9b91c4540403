import { TURN_BYTES_AT_ONCE } from '../../core/limits/machine.ts'

/** How many bytes a turn has. */
export interface TurnSize {
  readonly seq: number
  readonly whole: number
}

/** Turns that follow each other, by the numbers of the first and the last one. */
export interface Piece {
  readonly first: number
  readonly last: number
  readonly count: number
}

/** The turns, oldest first, in pieces that one transaction may copy or delete. */
export function piecesOf(turns: readonly TurnSize[]): Piece[] {
  const pieces: Piece[] = []
  let bytes = Infinity
  for (const { seq, whole } of turns) {
    const last = pieces.at(-1)
    bytes += whole
    if (last && bytes <= TURN_BYTES_AT_ONCE) {
      pieces[pieces.length - 1] = { ...last, last: seq, count: last.count + 1 }
    } else {
      pieces.push({ first: seq, last: seq, count: 1 })
      bytes = whole
    }
  }
  return pieces
}
