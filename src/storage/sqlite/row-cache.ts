import { leastRecentlyUsed } from '../../core/lru.ts'
import type { Statement } from '../db.ts'

/** UTF-16 units of text kept in rows; about twice as many bytes. */
const CACHED_UNITS_MAX = 4 * 1024 * 1024
/** What a row takes besides its text. */
const ROW_UNITS = 128

type Row = Readonly<Record<string, unknown>>

/**
 * Rows that are read with every request and seldom written, such as a key's. They are kept until a
 * statement that names one of their tables was executed, in whatever role: deciding by the name
 * alone drops too much at times and never too little. Only this process writes these tables while
 * it serves, apart from `key create`, which adds rows; hence absence is never kept.
 */
export function createRowCache() {
  const rows = leastRecentlyUsed<Row>(CACHED_UNITS_MAX, unitsOf)
  const tables = new Set<string>()
  /** By the text of a statement; texts are fixed by the program, so there are few. */
  const verdicts = new Map<string, boolean>()
  const numbers = new Map<string, number>()

  /** Short names: a text is hashed once in its life, what is made of it at every use. */
  function nameOf({ sql, args }: Statement): string {
    const number = numbers.get(sql) ?? numbers.size
    numbers.set(sql, number)
    return number + JSON.stringify(args)
  }

  function learn(table: string) {
    if (tables.has(table)) return
    tables.add(table)
    verdicts.clear()
  }

  function names(text: string): boolean {
    const known = verdicts.get(text)
    if (known !== undefined) return known
    const words = new Set(text.match(/\w+/g))
    const verdict = !tables.isDisjointFrom(words)
    verdicts.set(text, verdict)
    return verdict
  }

  return {
    /** The row that `read` gave before for this statement, else what it gives now. */
    get(read: readonly string[], statement: Statement, find: () => Row | null): Row | null {
      const name = nameOf(statement)
      const known = rows.get(name)
      if (known) return known
      for (const table of read) learn(table)
      const row = find()
      if (row) rows.put(name, row)
      return row
    },

    /** To be told of every statement that was executed, before its writer hears of it. */
    written(statements: readonly Statement[]): void {
      if (statements.some(({ sql }) => names(sql))) rows.clear()
    },
  }
}

function unitsOf(row: Row): number {
  let units = ROW_UNITS
  for (const value of Object.values(row)) if (typeof value === 'string') units += value.length
  return units
}
