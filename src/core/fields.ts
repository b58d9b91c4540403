import { z } from 'zod'
import { type AppError, appError, errorOfIssue, issue } from './errors.ts'
import {
  COLLECTIONS_LISTED_MAX,
  COLLECTIONS_MAX,
  DAILY_TOKENS_MAX,
  MODEL_CHARS_MAX,
  PRICE_MAX,
  RATE_LIMIT_DEFAULT,
  RATE_LIMIT_MAX,
  REFERENCE_CHARS_MAX,
  SESSION_ID_CHARS_MAX,
  SYSTEM_PROMPT_CHARS_MAX,
  TEMPERATURE_MAX,
  TOOL_NAME_CHARS_MAX,
  TOOLS_ENABLED_MAX,
} from './limits/contract.ts'
import { charCount } from './text.ts'

/** Reads what callers give, field by field. Lengths count code points after trimming. */

/** Lone surrogates have no UTF-8 form; they are replaced before any other rule runs. */
const WELL_FORMED = z.overwrite<string>((value) => value.toWellFormed())

/** All rules in one call: each method copies the schema, the slowest part of building it. */
const trimmed = (error: string, ...rules: readonly z.core.$ZodCheck<string>[]) =>
  z.string({ error }).check(z.trim(), WELL_FORMED, ...rules)

const atMost = (name: string, charsMax: number) =>
  z.refine<string>((value) => value.length <= charsMax || charCount(value) <= charsMax, {
    error: issue('field_too_long', { field: name, max: charsMax }),
  })

const notEmpty = (name: string) =>
  z.refine<string>((value) => value.length > 0, { error: issue('field_empty', { field: name }) })

/** Trimmed, not blank, at most `charsMax`. */
export const requiredText = (name: string, charsMax: number) =>
  trimmed(
    issue('field_required', { field: name, kind: 'string' }),
    notEmpty(name),
    atMost(name, charsMax),
  ).meta({ minLength: 1, maxLength: charsMax })

/** Null, absent or blank mean "not given". */
export const nullableText = (name: string, charsMax: number) =>
  trimmed(issue('field_type', { field: name, kind: 'string_or_null' }), atMost(name, charsMax))
    .meta({ maxLength: charsMax })
    .transform((value) => (value === '' ? null : value))
    .nullable()
    .default(null)

/** May be absent but not null; at most `charsMax`, if given. */
export const optionalText = (name: string, charsMax = Infinity) =>
  trimmed(issue('field_type', { field: name, kind: 'string' }), atMost(name, charsMax))
    .meta(Number.isFinite(charsMax) ? { maxLength: charsMax } : {})
    .optional()

/** Absent means `fallback`. */
export const optionalFlag = (name: string, fallback: boolean) =>
  z.boolean({ error: issue('field_type', { field: name, kind: 'boolean' }) }).default(fallback)

/** Null and absent mean "not given". */
export const nullableFlag = (name: string) =>
  z
    .boolean({ error: issue('field_type', { field: name, kind: 'boolean_or_null' }) })
    .nullable()
    .default(null)

const TEMPERATURE = issue('temperature_range', { max: TEMPERATURE_MAX })

/** Sampling temperature; null and absent mean that none is sent. */
export const nullableTemperature = z
  .number({ error: TEMPERATURE })
  .min(0, { error: TEMPERATURE })
  .max(TEMPERATURE_MAX, { error: TEMPERATURE })
  .nullable()
  .default(null)

/** What a million tokens cost; null and absent mean that it is not known. */
export const optionalPrice = (field: string) =>
  z
    .number({ error: issue('field_type', { field, kind: 'number' }) })
    .min(0, { error: issue('field_too_small', { field, min: 0 }) })
    .max(PRICE_MAX, { error: issue('field_too_big', { field, max: PRICE_MAX }) })
    .nullish()
    .transform((price) => price ?? undefined)

/** Null or absent allows every tool, an empty list none. */
const toolsEnabled = z
  .array(requiredText('tools_enabled 的每一项', TOOL_NAME_CHARS_MAX), {
    error: issue('field_type', { field: 'tools_enabled', kind: 'string_array_or_null' }),
  })
  .max(TOOLS_ENABLED_MAX, { error: issue('too_many_tools', { max: TOOLS_ENABLED_MAX }) })
  .nullable()
  .default(null)

const collectionList = (field: string, most: number) =>
  z
    .array(
      z
        .string({ error: issue('field_type', { field, kind: 'string_array_or_null' }) })
        .min(1, { error: issue('field_empty', { field }) }),
      { error: issue('field_type', { field, kind: 'string_array_or_null' }) },
    )
    .max(most, { error: issue('too_many_items', { field, max: most }) })
    .nullable()

/** What an assistant sees; null: all documents. One that is omitted keeps what was. */
export const seenCollections = collectionList('collections', COLLECTIONS_LISTED_MAX).optional()

/** Narrows what a request sees; null or absent: not at all. */
export const narrowing = collectionList('collections', COLLECTIONS_MAX + 1).optional()

/** Of a document: an id, `none` or null. What an absent one means, its route says. */
export const collectionId = z
  .string({ error: issue('field_type', { field: 'collection_id', kind: 'string_or_null' }) })
  .nullable()
  .optional()

/** Which facts turns remember and know; null and absent: as the tenant says, or none. */
export const memorySwitch = z
  .enum(['off', 'app', 'tenant'], { error: issue('field_invalid', { field: 'memory' }) })
  .nullable()
  .default(null)

/** What decides how an app answers. */
export const assistantFields = {
  system_prompt: nullableText('system_prompt', SYSTEM_PROMPT_CHARS_MAX),
  persona_id: nullableText('persona_id', REFERENCE_CHARS_MAX),
  model: nullableText('model', MODEL_CHARS_MAX),
  thinking: nullableFlag('thinking'),
  temperature: nullableTemperature,
  kb_enabled: optionalFlag('kb_enabled', true),
  tools_enabled: toolsEnabled,
  may_ask: nullableFlag('may_ask'),
  collections: seenCollections,
  /** Whether the tools of reminders are offered; null: as the tenant says. */
  reminders: nullableFlag('reminders'),
  memory: memorySwitch,
}

const RATE = issue('rate_limit_range', { max: RATE_LIMIT_MAX })

/** Requests a minute of a key; above the maximum clamped, 0 unlimited. */
const requestsAMinute = z
  .int({ error: RATE })
  .min(0, { error: RATE })
  .transform((value) => Math.min(value, RATE_LIMIT_MAX))

export const rateLimit = requestsAMinute.default(RATE_LIMIT_DEFAULT)
export const newRateLimit = requestsAMinute.optional()

const TOKENS = issue('daily_tokens_range', { max: DAILY_TOKENS_MAX })

/** Tokens a UTC day of a key; 0 is no budget. */
export const dailyTokens = z
  .int({ error: TOKENS })
  .min(0, { error: TOKENS })
  .max(DAILY_TOKENS_MAX, { error: TOKENS })

/**
 * A number of a query: `fallback` when it is not a positive integer, and at most `most`.
 */
export function clampedLimit(value: string | null, fallback: number, most: number): number {
  if (value === null || !/^\d+$/.test(value) || Number(value) < 1) return fallback
  return Math.min(Number(value), most)
}

interface Problem {
  readonly issue: z.core.$ZodIssue
  readonly path: readonly PropertyKey[]
}

/**
 * The innermost problem. For a union it is that of the branch that got furthest: where a text or a
 * list of parts is allowed, the branch of the list.
 */
function innermost(issue: z.core.$ZodIssue): Problem {
  if (issue.code !== 'invalid_union') return { issue, path: issue.path }
  const inner = issue.errors
    .flatMap((branch) => branch.slice(0, 1).map(innermost))
    .reduce<Problem | null>((a, b) => (b.path.length > (a?.path.length ?? 0) ? b : a), null)
  return inner
    ? { issue: inner.issue, path: [...issue.path, ...inner.path] }
    : { issue, path: issue.path }
}

/** `messages[2].content[0].type` */
const paramOf = (path: readonly PropertyKey[]): string =>
  path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '')
    .slice(0, 200)

/** Longest value that an error names. */
const WORD_CHARS_MAX = 40

/** A value that is one word, such as `namespace`: it names a choice and is no text of a person. */
function wordOf({ input }: z.core.$ZodIssue, path: readonly PropertyKey[]): string | null {
  const last = path.at(-1)
  const isOuter = typeof input === 'object' && input !== null && last !== undefined
  const value = isOuter ? (input as Readonly<Record<PropertyKey, unknown>>)[last] : input
  const isWord = typeof value === 'string' && /^[\w.:-]+$/.test(value)
  return isWord ? value.slice(0, WORD_CHARS_MAX) : null
}

/**
 * The first problem of a body as an error that names the field. A rule of ours carries its error
 * in its message (`issue`); every other message is zod's.
 */
function explain(error: z.ZodError): AppError {
  const first = error.issues[0]
  if (!first) return appError('invalid_request')
  const { issue: problem, path } = innermost(first)
  const details = path.length > 0 ? { param: paramOf(path) } : {}
  const ours = errorOfIssue(problem.message, details)
  const value = ours?.code === 'unsupported_value' ? wordOf(problem, path) : null
  if (value !== null) {
    return appError('unsupported_value', { field: `${paramOf(path)}: ${value}` }, details)
  }
  if (ours) return ours
  const field = path.map(String).join('.').slice(0, 60) || '请求体'
  if (problem.code === 'invalid_type') {
    if (problem.input === undefined) return appError('field_missing', { field }, details)
    const kind = problem.expected === 'record' ? 'object' : problem.expected
    return appError('field_type', { field, kind }, details)
  }
  if (problem.code === 'too_big')
    return appError('field_too_big', { field, max: Number(problem.maximum) }, details)
  if (problem.code === 'too_small')
    return appError('field_too_small', { field, min: Number(problem.minimum) }, details)
  return appError('field_invalid', { field }, details)
}

/** The output of `schema`; throws a 400 for the first problem. */
export function checked<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(value, { reportInput: true })
  if (!parsed.success) throw explain(parsed.error)
  return parsed.data
}

/** The tenant-shared anonymous session. */
export const ANONYMOUS = 'anon'

/**
 * Reads the caller's name of a session; empty means the anonymous one, too long is a 400. Lone
 * surrogates have no UTF-8 form and are replaced here, so that memory and database hold one name.
 */
export function sessionId(given: string | undefined): string {
  const id = given?.trim().toWellFormed() ?? ''
  if (charCount(id) > SESSION_ID_CHARS_MAX) {
    throw appError('field_too_long', { field: 'session_id', max: SESSION_ID_CHARS_MAX })
  }
  return id || ANONYMOUS
}
