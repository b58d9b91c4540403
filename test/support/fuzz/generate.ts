import { anything, HOSTILE_NUMBERS, HOSTILE_TEXTS, pick, type Random } from './values.ts'

/** The part of JSON Schema that the product's document uses. */
export interface Schema {
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly minimum?: number
  readonly maximum?: number
}

/** The share of values that break the schema. */
const WRONG = 0.15

/**
 * A body for a schema: mostly valid, so that it passes the first checks, with some wrong values.
 */
export function bodyFor(schema: Schema, random: Random): unknown {
  if (random() < WRONG) return anything(random)
  const options = schema.anyOf ?? schema.oneOf
  if (options) return bodyFor(pick(random, options), random)
  if ('const' in schema) return schema.const
  if (schema.enum) return pick(random, schema.enum)
  const { type } = schema
  switch (typeof type === 'object' ? pick(random, type) : type) {
    case 'null':
      return null
    case 'object':
      return objectFor(schema, random)
    case 'array':
      return Array.from({ length: Math.floor(random() * 4) }, () =>
        bodyFor(schema.items ?? {}, random),
      )
    case 'boolean':
      return random() < 0.5
    case 'integer':
    case 'number':
      return random() < 0.5 ? pick(random, HOSTILE_NUMBERS) : Math.floor(random() * 100)
    case 'string':
      return random() < 0.5 ? pick(random, HOSTILE_TEXTS) : pick(random, PLAIN)
    default:
      return anything(random)
  }
}

const PLAIN = [
  'a',
  '你好',
  '月球基地的氧气在哪里？',
  'a@example.com',
  '123456',
  'https://models.invalid/v1',
]

function objectFor({ properties = {}, required = [] }: Schema, random: Random): unknown {
  const entries = Object.entries(properties)
    .filter(([name]) => random() < (required.includes(name) ? 0.95 : 0.5))
    .map(([name, schema]): [string, unknown] => [name, bodyFor(schema, random)])
  if (random() < 0.1) entries.push([pick(random, HOSTILE_TEXTS), anything(random)])
  return Object.fromEntries(entries)
}

/** JSON text, sometimes malformed. */
export function textOf(body: unknown, random: Random): string | Uint8Array<ArrayBuffer> {
  const text = JSON.stringify(body) ?? ''
  const kind = random()
  if (kind < 0.9) return text
  if (kind < 0.93) return text.slice(0, Math.floor(random() * text.length))
  if (kind < 0.96) return `${'['.repeat(2_000)}${text}`
  return Uint8Array.from({ length: 64 }, () => Math.floor(random() * 256))
}

/** A header value of characters that a client can send. */
export const headerValue = (random: Random): string =>
  pick(random, HOSTILE_TEXTS)
    .replace(/[^\x20-\x7e]/g, '?')
    .slice(0, 2_000)
    .trim()
