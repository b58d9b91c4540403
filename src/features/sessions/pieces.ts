import { inPieces, type Sized } from '../../core/pieces.ts'

/** How many bytes a turn has. */
export interface TurnSize extends Sized {
  readonly seq: number
}

/** Turns that follow each other, by the numbers of the first and the last one. */
export interface Piece {
  readonly first: number
  readonly last: number
  readonly count: number
}

/** The turns, oldest first, in pieces that one transaction may copy or delete. */
export const piecesOf = (turns: readonly TurnSize[]): Piece[] =>
  inPieces(turns).map((piece) => {
    const seqs = piece.map(({ seq }) => seq)
    return { first: Math.min(...seqs), last: Math.max(...seqs), count: seqs.length }
  })
