/** A chunk of text and the passage that it comes from. */
export interface Piece {
  readonly text: string
  readonly owner: string
}

const K1 = 1.2
const B = 0.75

/** Plain BM25 over bigrams of Chinese characters and lower-case words; passages, best first. */
export function bm25(pieces: readonly Piece[]): (question: string) => string[] {
  const entries = pieces.map(({ text, owner }) => ({ owner, counts: count(terms(text)) }))
  const lengths = entries.map(({ counts }) => [...counts.values()].reduce((a, b) => a + b, 0))
  const mean = lengths.reduce((a, b) => a + b, 0) / entries.length
  const holding = new Map<string, number>()
  for (const { counts } of entries) {
    for (const term of counts.keys()) holding.set(term, (holding.get(term) ?? 0) + 1)
  }
  const rarity = (term: string) => {
    const n = holding.get(term) ?? 0
    return Math.log(1 + (entries.length - n + 0.5) / (n + 0.5))
  }
  return (question) => {
    const wanted = [...new Set(terms(question))]
    const scored = entries.map(({ owner, counts }, i) => {
      const norm = K1 * (1 - B + (B * (lengths[i] ?? 0)) / mean)
      const gains = wanted.map((term) => {
        const times = counts.get(term) ?? 0
        return (rarity(term) * times * (K1 + 1)) / (times + norm)
      })
      return { owner, score: gains.reduce((a, b) => a + b, 0) }
    })
    return scored
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .map(({ owner }) => owner)
  }
}

function terms(text: string): string[] {
  return [...text.toLowerCase().matchAll(/(\p{sc=Han}+)|[\p{L}\p{N}]+/gu)].flatMap(([run, han]) => {
    const chars = [...run]
    if (!han || chars.length === 1) return [run]
    return chars.slice(1).map((char, i) => `${chars[i]}${char}`)
  })
}

function count(list: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const term of list) counts.set(term, (counts.get(term) ?? 0) + 1)
  return counts
}
