import { z } from 'zod'
import { ASK_FIELDS_MAX } from '../core/limits/contract.ts'

type Json = Readonly<Record<string, unknown>>

const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const FLAT = ['string', 'number', 'integer', 'boolean']

/** Whether a person can fill in the schema as a form: a few fields, none inside another. */
export function isForm(schema: unknown): schema is Json {
  if (!isJson(schema) || schema.type !== 'object' || !isJson(schema.properties)) return false
  const fields = Object.values(schema.properties)
  return (
    fields.length <= ASK_FIELDS_MAX &&
    fields.every((field) => isJson(field) && FLAT.includes(String(field.type)))
  )
}

/** Names of secrets that are parts of other words, too. */
const SECRETS = new Set([
  ...['pass', 'passwd', 'passcode', 'passphrase', 'pwd', 'pin', 'credential', 'credentials'],
  ...['key', 'keys', 'apikey', 'accesskey', 'privatekey', 'sshkey', 'cvc', 'cvv'],
  ...['card', 'cards', 'creditcard', 'cardnumber', 'cardno', 'bankcard', 'debitcard'],
])

/** Whether a field of the form is named like something secret. */
export const asksForSecret = (schema: Json): boolean =>
  Object.entries(schema.properties as Json).some(([name, field]) => {
    const title = isJson(field) && typeof field.title === 'string' ? field.title : ''
    return wordsOf(`${name} ${title}`).some(
      (word) => SECRETS.has(word) || /password|secret|token|密码|口令|密钥|令牌|卡号/.test(word),
    )
  })

const wordsOf = (name: string): string[] =>
  name
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}]+/u)

/** Their regular expressions are a stranger's, and may run for minutes. */
const UNCHECKED = new Set(['pattern', 'patternProperties', 'format'])
/** Keywords whose members are schemas under names of their own. */
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions'])

/** Whether the value is what the schema says; a keyword that we do not know refuses nothing. */
export function fits(value: Json, schema: Json): boolean {
  try {
    return z.fromJSONSchema(checkable(schema) as never).safeParse(value).success
  } catch {
    return isJson(value)
  }
}

function checkable(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(checkable)
  if (!isJson(schema)) return schema
  return Object.fromEntries(
    Object.entries(schema).flatMap(([name, child]) => {
      if (UNCHECKED.has(name)) return []
      if (name === 'enum' || name === 'const' || name === 'default') return [[name, child]]
      if (!NAMED.has(name) || !isJson(child)) return [[name, checkable(child)]]
      const named = Object.entries(child).map(([key, one]) => [key, checkable(one)])
      return [[name, Object.fromEntries(named)]]
    }),
  )
}
