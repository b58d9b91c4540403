export interface WithIndexKey<T> {
  /** The index as key, for items without an id that never move. */
  readonly key: string
  readonly item: T
}

export const withIndexKeys = <T>(items: readonly T[]): WithIndexKey<T>[] =>
  items.map((item, index) => ({ key: String(index), item }))
