import { sha256Hex } from '../../core/crypto.ts'
import type { Lock, Statement, Value } from '../db.ts'

const READS = /^\s*(?:SELECT|WITH)\b/i

/** Whether it changes nothing, so that it may be sent again. */
export const isRead = ({ sql }: Statement): boolean => READS.test(sql)

/** Keeps our advisory locks apart from those of other programs in the same database. */
const LOCKS = 0x4d42 * 2 ** 32

const lockOf = (name: string) => LOCKS + Number.parseInt(sha256Hex(name).slice(0, 8), 16)

/** The number of a lock that a name stands for. */
export const namedLock = (name: string): number => lockOf(`/${name}`)

/** The numbers of the locks of all these statements, in the order in which all take them. */
export function locksOf(statements: readonly Statement[]): number[] {
  const numbers = statements.flatMap(({ locks = [] }) => locks.map(numberOf))
  return [...new Set(numbers)].sort((a, b) => a - b)
}

const numberOf = (lock: Lock) => lockOf(JSON.stringify(lock))

const TENANT = /\btenant_id = \?/

/** The tenant whose rows a statement is about; empty where its text does not begin with one. */
export function tenantOf({ sql, args }: Statement): string {
  const at = TENANT.exec(sql)?.index
  if (at === undefined) return ''
  const tenant = args[sql.slice(0, at).split('?').length - 1]
  return typeof tenant === 'string' ? tenant : ''
}

/**
 * A statement in PostgreSQL's words. Its values carry their types, as the server would take many of
 * them for text. No text has a question mark in a literal.
 */
export function textOf(sql: string, args: readonly Value[]): string {
  let count = 0
  const typed = () => {
    count += 1
    return `$${count}${castOf(args[count - 1] ?? null)}`
  }
  // SQLite's LIKE ignores the case of ASCII letters.
  return sql
    .replaceAll('?', typed)
    .replaceAll(/\bLIKE\b/g, 'ILIKE')
    .replaceAll('json_quote(', 'to_json(')
}

function castOf(value: Value): string {
  if (value === null) return ''
  if (typeof value === 'string') return '::text'
  if (typeof value === 'number') return Number.isSafeInteger(value) ? '::int8' : '::float8'
  return '::bytea'
}

const number = (text: string) => Number(text)
const bytes = (text: string) => new Uint8Array(Buffer.from(text.slice(2), 'hex'))
const text = (value: string) => value

/** By PostgreSQL's numbers of types; JSON and times stay text, as all others. */
const PARSERS = new Map<number, (text: string) => unknown>([
  // int8, numeric (the sum of int8), int2, int4, oid, float4, float8.
  ...[20, 1700, 21, 23, 26, 700, 701].map((type) => [type, number] as const),
  [16, (value) => Number(value === 't')],
  [17, bytes],
])

/** Values as SQLite returns them: numbers, 0 and 1 for booleans, Uint8Array for bytes. */
export const RESULT_TYPES = { getTypeParser: (type: number) => PARSERS.get(type) ?? text }
