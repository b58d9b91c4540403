import { leastRecentlyUsed } from '../../core/bounded-maps.ts'
import type { Statement } from '../db.ts'

/** UTF-16 units of text kept in rows; about twice as many bytes. */
const CACHED_UNITS_MAX = 4 * 1024 * 1024
/** The name of a row holds the arguments of its statement, and a caller's text may be long. */
const NAME_UNITS_MAX = 256
/** What a row takes besides its text. */
const ROW_UNITS = 128 + NAME_UNITS_MAX

/** Read with every request and seldom written. */
const SELDOM_WRITTEN = [
  'api_key',
  'app',
  'mcp_server',
  'persona',
  'provider',
  'tenant',
  'tenant_settings',
]

type Row = Readonly<Record<string, unknown>>

/** What is known of a statement by its text. */
interface Verdict {
  /** Stands for the text in the names of rows. */
  readonly number: number
  /** It names a table that is seldom written. */
  readonly touches: boolean
  /** It names no other table. */
  readonly kept: boolean
}

/**
 * Rows of the tables that every request reads and few requests write, such as a key's. Which
 * tables a statement reads or writes is taken from its text: any word of it that is the name of a
 * table counts. A read is kept only when all of its tables are seldom written; a write that names
 * one of those drops every kept row. So too much may be dropped and never too little. While a
 * server runs, only `key create` writes these tables from another process, and it only adds rows;
 * hence the absence of a row is never kept.
 */
export function createRowCache(
  tables: readonly string[],
  seldomWritten: readonly string[] = SELDOM_WRITTEN,
) {
  const rows = leastRecentlyUsed<Row>(CACHED_UNITS_MAX, unitsOf)
  const seldom = new Set(seldomWritten)
  const others = new Set(tables).difference(seldom)
  /** By the text of a statement; texts are fixed by the program, so there are few. */
  const texts = new Map<string, Verdict>()

  function judge(text: string): Verdict {
    const words = new Set(text.match(/\w+/g))
    const touches = !seldom.isDisjointFrom(words)
    return { number: texts.size, touches, kept: touches && others.isDisjointFrom(words) }
  }

  function known(text: string) {
    const found = texts.get(text) ?? judge(text)
    texts.set(text, found)
    return found
  }

  return {
    /** The row that an earlier `read` gave for this statement, else what it gives now. */
    get({ sql, args }: Statement, read: () => Row | null): Row | null {
      const { number, kept } = known(sql)
      if (!kept) return read()
      const name = number + JSON.stringify(args)
      if (name.length > NAME_UNITS_MAX) return read()
      const there = rows.get(name)
      if (there) return there
      const row = read()
      if (row) rows.put(name, Object.freeze(row))
      return row
    },

    /** To be called with every statement that was executed, before its write is acknowledged. */
    written(statements: readonly Statement[]): void {
      if (statements.some(({ sql }) => known(sql).touches)) rows.clear()
    },
  }
}

function unitsOf(row: Row): number {
  let units = ROW_UNITS
  for (const value of Object.values(row)) if (typeof value === 'string') units += value.length
  return units
}
