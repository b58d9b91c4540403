import { leastRecentlyUsed } from '../../core/bounded-maps.ts'
import { sha256Hex } from '../../core/crypto.ts'
import type { Statement, Value } from '../db.ts'

/** A statement translated for PostgreSQL. */
export interface Prepared {
  readonly text: string
  /** Numbers of the locks that a transaction takes before this statement, in their order. */
  readonly locks: readonly number[]
  /** The lock of the table whose existing rows it changes; null when it changes none. */
  readonly changes: number | null
  /** It changes nothing, so it may be sent again. */
  readonly reads: boolean
}

/** A statement whose condition depends on rows that it does not change, such as a count. */
const DECIDES = /^\s*(?:INSERT|UPDATE|DELETE)\b.*(?:\bcount\(\*\)|\bEXISTS\b)/is
const TABLE = /\b(?:FROM|JOIN|INTO|(?<!DO )UPDATE)\s+"?([a-z_]+)"?/g
const CHANGES =
  /^\s*(?:UPDATE|DELETE FROM)\s+"?([a-z_]+)|^\s*INSERT INTO\s+"?([a-z_]+).*\bDO UPDATE\b/is
const READS = /^\s*(?:SELECT|WITH)\b/i

/** Keeps our advisory locks apart from those of other programs in the same database. */
const LOCKS = 0x4d42 * 2 ** 32

const lockOf = (name: string) => LOCKS + Number.parseInt(sha256Hex(name).slice(0, 8), 16)

/** The lock that a name stands for. */
export const namedLock = (name: string): number => lockOf(`/${name}`)

function prepare(sql: string): Prepared {
  let count = 0
  // SQLite's LIKE ignores the case of ASCII letters. No text has a question mark in a literal.
  const text = sql.replaceAll('?', () => `$${++count}`).replaceAll(/\bLIKE\b/g, 'ILIKE')
  const tables = DECIDES.test(sql) ? [...sql.matchAll(TABLE)].map(([, name = '']) => name) : []
  const locks = [...new Set(tables)].map(lockOf).sort((a, b) => a - b)
  const [, changed, upserted] = CHANGES.exec(sql) ?? []
  const table = changed ?? upserted
  const changes = table === undefined ? null : lockOf(table)
  return { text, locks, changes, reads: READS.test(sql) }
}

/** Texts whose translation is kept. */
const TRANSLATED_MAX = 1_000

/** Translates statements, each text once while it is in use. */
export function createDialect() {
  const known = leastRecentlyUsed<Prepared>(TRANSLATED_MAX, () => 1)
  return ({ sql }: Statement): Prepared => {
    const found = known.get(sql)
    if (found) return found
    const translated = prepare(sql)
    known.put(sql, translated)
    return translated
  }
}

/** Numbers of PostgreSQL's types. */
const INT8 = 20
const FLOAT8 = 701
const TEXT = 25
const BYTEA = 17
/** The server infers the type. */
const UNKNOWN = 0

/** The type that a value is sent as. */
export function typeOf(value: Value): number {
  if (value === null) return UNKNOWN
  if (typeof value === 'string') return TEXT
  if (typeof value === 'number') return Number.isSafeInteger(value) ? INT8 : FLOAT8
  return BYTEA
}

/** PostgreSQL stores no NUL in text: U+FFFD replaces it. */
export const storable = (value: Value): Value =>
  typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value

const number = (text: string) => Number(text)

/** Values as SQLite returns them: numbers, 0 and 1 for booleans, Uint8Array for bytes. */
export const RESULT_TYPES = {
  // int8, numeric (the sum of int8), int2, int4, oid, float4, float8.
  number: { to: INT8, from: [20, 1700, 21, 23, 26, 700, 701], serialize: String, parse: number },
  boolean: { to: 16, from: [16], serialize: String, parse: (text: string) => Number(text === 't') },
  bytea: {
    to: BYTEA,
    from: [BYTEA],
    serialize: (bytes: Uint8Array) => `\\x${Buffer.from(bytes).toString('hex')}`,
    parse: (text: string) => new Uint8Array(Buffer.from(text.slice(2), 'hex')),
  },
  text: {
    // JSON and times stay text.
    to: TEXT,
    from: [TEXT, 114, 3802, 1082, 1114, 1184],
    serialize: String,
    parse: (text: string) => text,
  },
}
