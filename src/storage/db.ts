import type { DiskFault } from '../core/errors.ts'

/**
 * The storage port. Its shape is libsql's `execute` and `batch` without an interactive transaction:
 * nothing awaits while a lock is held, so the same port fits SQLite on one box and PostgreSQL
 * later. SQL stays portable: `?` placeholders, ids and times made by the caller, booleans as 0, 1.
 */
export type Value = string | number | null | Uint8Array

export interface Statement {
  readonly sql: string
  readonly args: readonly Value[]
}

export interface Changes {
  readonly changes: number
}

export interface Db {
  /** First row of a reading statement, or null. Sees every write that was acknowledged before. */
  get<Row>(statement: Statement): Promise<Row | null>
  /**
   * As `get`, for a row that many requests read and few write, which may come from memory; `tables`
   * names all that the statement reads. The row is shared: it must not be changed.
   */
  cached<Row>(tables: readonly string[], statement: Statement): Promise<Row | null>
  /** All rows of a reading statement. */
  all<Row>(statement: Statement): Promise<Row[]>
  /** One writing statement. Resolves when it is on disk. */
  run(statement: Statement): Promise<Changes>
  /** One atomic unit, in order: all of it is on disk when this resolves, or none of it ever is. */
  batch(statements: readonly Statement[]): Promise<Changes[]>
  /** What keeps the disk from taking writes, as the last one met it, unless it has passed. */
  trouble(): Promise<DiskFault['trouble'] | null>
  close(): Promise<void>
}

/** The text of each template, joined once: one string for all calls is hashed once, too. */
const texts = new WeakMap<TemplateStringsArray, string>()

/** Tagged template: interpolations become bound arguments, never SQL text. */
export function sql(parts: TemplateStringsArray, ...args: readonly Value[]): Statement {
  const known = texts.get(parts)
  if (known !== undefined) return { sql: known, args }
  const text = parts.join('?')
  texts.set(parts, text)
  return { sql: text, args }
}
