export interface Numbered<T> {
  /** Place in the list: a key for items that have no name and never change places. */
  readonly key: string
  readonly item: T
}

export const numbered = <T>(items: readonly T[]): Numbered<T>[] =>
  items.map((item, index) => ({ key: String(index), item }))
