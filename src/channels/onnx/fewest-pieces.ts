/** What a character that begins no known piece costs; a known piece costs about 1. */
const UNKNOWN = 1.6
/** Of two ways with as many pieces, the one with the longest piece is taken. */
const PER_SQUARE = 0.001

/**
 * Cuts a text into as few known pieces of at most `lengthMax` units as it can. Characters that are
 * in none are pieces of their own.
 */
export function fewestPieces(
  text: string,
  isKnown: (piece: string) => boolean,
  lengthMax: number,
): string[] {
  /** The cheapest cut of each beginning of the text: what it costs, and where its last piece is. */
  const ways = [{ cost: 0, from: 0 }]
  for (let to = 1; to <= text.length; to++) {
    let best = { cost: Infinity, from: to - 1 }
    for (let from = Math.max(0, to - lengthMax); from < to; from++) {
      const length = to - from
      const known = isKnown(text.slice(from, to))
      if (!known && length > 1) continue
      const own = (known ? 1 : UNKNOWN) - PER_SQUARE * length * length
      const cost = (ways[from]?.cost ?? 0) + own
      if (cost < best.cost) best = { cost, from }
    }
    ways.push(best)
  }
  const pieces: string[] = []
  for (let to = text.length; to > 0; to = ways[to]?.from ?? 0) {
    pieces.unshift(text.slice(ways[to]?.from ?? 0, to))
  }
  return pieces
}
