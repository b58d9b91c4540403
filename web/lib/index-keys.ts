export interface WithIndexKey<T> {
  /** Place in the list: a key for items that have no name and never change places. */
  readonly key: string
  readonly item: T
}

export const withIndexKeys = <T>(items: readonly T[]): WithIndexKey<T>[] =>
  items.map((item, index) => ({ key: String(index), item }))
