/**
 * The storage port: `execute` and `batch` as in libsql, without interactive transactions. No lock
 * is held across an await, so SQLite on one machine fits the port and PostgreSQL can. SQL stays
 * portable: `?` placeholders, ids and times made by the caller, booleans as 0 and 1.
 */
export type Value = string | number | null | Uint8Array

/** Rows that a statement decides by: a table, and whose of its rows, most often a tenant's. */
export type Lock = readonly [table: string, ...of: string[]]

export interface Statement {
  readonly sql: string
  readonly args: readonly Value[]
  /** The number of rows that this statement must change; any other one fails its whole batch. */
  readonly expect?: number
  /** Statements that share a lock run one after another, in all processes. */
  readonly locks?: readonly Lock[]
}

export interface Changes {
  readonly changes: number
}

export interface Db {
  /**
   * First row of a reading statement, or null. Sees every write that was acknowledged before. The
   * row may be shared with other callers and must not be changed.
   */
  get<Row>(statement: Statement): Promise<Row | null>
  /** All rows of a reading statement. */
  all<Row>(statement: Statement): Promise<Row[]>
  /** One writing statement. Resolves when it is on disk. */
  run(statement: Statement): Promise<Changes>
  /**
   * One transaction, in order: all of it is on disk when this resolves, or none of it ever is.
   * Rejects with `NotAsExpected` when a statement changes another number of rows than it expects.
   */
  batch(statements: readonly Statement[]): Promise<Changes[]>
  close(): Promise<void>
}

/** The database of a server. */
export interface StoredDb extends Db {
  /** A short public word for why the database cannot serve; null when it can. */
  trouble(): Promise<string | null>
  /** False while it takes no writes. */
  takesWrites(): boolean
  /** Takes what was deleted from the disk, where the database does not do that by itself. */
  erase?(signal: AbortSignal): Promise<void>
  /** Open connections, where it is reached over the network. */
  connections?(): number
}

/** A statement of a batch changed another number of rows than it expects; nothing was stored. */
export class NotAsExpected extends Error {
  override readonly name = 'NotAsExpected'

  /** `index` is the place of the statement in its batch. */
  constructor(readonly index: number) {
    super(`statement ${index} of the batch changed another number of rows than expected`)
  }
}

/** The statement, and with it its batch, fails unless it changes exactly `rows` rows. */
export const expectRows = (rows: number, statement: Statement): Statement => ({
  ...statement,
  expect: rows,
})

/** True once `work` is stored; false when it failed with `NotAsExpected`. */
export async function storedAsExpected(work: Promise<unknown>): Promise<boolean> {
  try {
    await work
    return true
  } catch (error) {
    if (error instanceof NotAsExpected) return false
    throw error
  }
}

/** The text of each template, joined once: one string for all calls is hashed once, too. */
const texts = new WeakMap<TemplateStringsArray, string>()

/** A value as both databases store it: PostgreSQL has no NUL in text, so U+FFFD replaces it. */
export const storable = (value: Value): Value =>
  typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value

/**
 * Texts as one value, which statements of both databases read by `value ->> 0` of `json_each(?)`.
 * Half of a surrogate pair becomes U+FFFD, as in every stored text: PostgreSQL refuses such JSON.
 */
export const textRows = (texts: readonly string[]): string =>
  JSON.stringify(texts.map((text) => [text.toWellFormed()]))

/** Tagged template: interpolations become bound arguments, never SQL text. */
export function sql(parts: TemplateStringsArray, ...args: readonly Value[]): Statement {
  const known = texts.get(parts)
  if (known !== undefined) return { sql: known, args }
  const text = parts.join('?')
  texts.set(parts, text)
  return { sql: text, args }
}

/** Parts of one statement, such as its columns and its condition; it takes all their locks. */
export function joined(...parts: readonly Statement[]): Statement {
  const text = parts.map((part) => part.sql).join(' ')
  const args = parts.flatMap((part) => part.args)
  const locks = parts.flatMap((part) => part.locks ?? [])
  return locks.length > 0 ? { sql: text, args, locks } : { sql: text, args }
}

/** The statement also takes this lock. */
export const withLock = (lock: Lock, statement: Statement): Statement => ({
  ...statement,
  locks: [...(statement.locks ?? []), lock],
})

/**
 * As `sql`, for a statement that takes a lock: of statements with the same lock one transaction
 * runs at a time. One that writes by what it reads of other rows, such as their number, needs a
 * lock, else two of them at once could both pass.
 */
export const locked =
  (...lock: Lock) =>
  (parts: TemplateStringsArray, ...args: readonly Value[]): Statement =>
    withLock(lock, sql(parts, ...args))

/** Reads off the event loop, where tenants take turns: for searches and scans. */
export interface Reader {
  /**
   * As `Db.all`. Rejects with the signal's reason when the signal aborts before the statement's
   * turn.
   */
  all<Row>(tenantId: string, statement: Statement, signal?: AbortSignal): Promise<Row[]>
}

/** Reads lists, too. */
export interface ListReader extends Reader {
  /** Whether statements of several tenants run at once, so that a long one keeps nobody waiting. */
  readonly isSideBySide: boolean
}
