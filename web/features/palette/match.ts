export interface Entry {
  readonly id: string
  readonly label: string
  /** A line below the label. */
  readonly text?: string
  /** Further text by which it is found, such as its address. */
  readonly also?: string
  readonly run: () => void
}

export interface Group {
  readonly name: string
  readonly entries: readonly Entry[]
}

const SHOWN_MAX = 8

const fold = (text: string) => text.normalize('NFKC').toLowerCase()

/** The entries that have every word of the query; those whose label begins with it come first. */
export function matching(groups: readonly Group[], query: string): Group[] {
  const wanted = fold(query.trim())
  const words = wanted.split(/\s+/)
  const has = ({ label, also = '' }: Entry) => {
    const text = fold(`${label} ${also}`)
    return words.every((word) => text.includes(word))
  }
  const rank = ({ label }: Entry) => (fold(label).startsWith(wanted) ? 0 : 1)
  return groups
    .map(({ name, entries }) => ({
      name,
      entries: entries
        .filter(has)
        .sort((a, b) => rank(a) - rank(b))
        .slice(0, wanted === '' ? undefined : SHOWN_MAX),
    }))
    .filter(({ entries }) => entries.length > 0)
}
