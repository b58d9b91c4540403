import { z } from 'zod'
import { appError, issue } from '../../core/errors.ts'
import {
  SESSION_ID_CHARS_MAX,
  STOP_SEQUENCES_MAX,
  TEMPERATURE_MAX,
} from '../../core/limits/contract.ts'
import { CHAT_PARTS_PER_MESSAGE, CLIENT_TOOLS_CHARS_MAX } from '../../core/limits/machine.ts'
import { charCount } from '../../core/text.ts'
import { checkImage } from '../../upstream/egress/images.ts'
import type { ResponseFormat, Sampling } from '../../upstream/ports/llm.ts'

/** Fields that the bodies of several APIs have in common. */

/**
 * A body with these fields, which are made at its first use; null counts as absent. Only known
 * fields are read: a body may have a hundred thousand others.
 */
export const bodyOf = <Shape extends z.ZodRawShape>(fields: () => z.ZodObject<Shape>) =>
  z.lazy(() => {
    const schema = fields()
    const names = Object.keys(schema.shape)
    return z.preprocess((body) => {
      if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
      const given = body as Readonly<Record<string, unknown>>
      const known = names.filter((name) => Object.hasOwn(given, name) && given[name] !== null)
      return Object.fromEntries(known.map((name) => [name, given[name]]))
    }, schema)
  })

/** Lone surrogates have no UTF-8 form. */
export const text = () => z.string().overwrite((value) => value.toWellFormed())

/** Checks the length before the items, so that a list that is too long is not read. */
export const list = <Item extends z.ZodType>(item: Item, max: number) =>
  z.preprocess((value, context) => {
    if (Array.isArray(value) && value.length > max) {
      context.addIssue({ code: 'too_big', origin: 'array', maximum: max, input: value })
    }
    return value
  }, z.array(item).max(max))

/** Names the field that decides which of several forms an item has, such as `type`. */
export const oneOf = (field: string) => ({
  error: ({ code }: { readonly code: string }) =>
    code === 'invalid_union' ? issue('unsupported_value', { field }) : undefined,
})

export const unsupportedValue = (field: string) => ({
  error: issue('unsupported_value', { field }),
})

/** A field that is refused with any value. */
export const refused = (field: string) =>
  z
    .never({ error: issue('unsupported_parameter', { field }) })
    .describe('Refused')
    .optional()

/** An image as a link or as data. */
export const imageUrl = z.string().superRefine((url, context) => {
  const problem = checkImage(url)
  if (problem) context.addIssue({ code: 'custom', message: problem })
})

const penalty = z.number().min(-2).max(2).optional()

/** How the model chooses its words, by the names that all of these APIs have for it. */
export const temperature = z.number().min(0).max(TEMPERATURE_MAX).optional()
export const topP = z.number().min(0).max(1).optional()
export const stopSequences = () => list(name(), STOP_SEQUENCES_MAX)

export const samplingFields = {
  temperature,
  top_p: topP,
  presence_penalty: penalty,
  frequency_penalty: penalty,
}
type SamplingFields = z.output<z.ZodObject<typeof samplingFields>>

export const samplingOf = (request: SamplingFields): Sampling => ({
  topP: request.top_p,
  presencePenalty: request.presence_penalty,
  frequencyPenalty: request.frequency_penalty,
})

/** Fields of chat completions and responses. */
export const sharedFields = {
  ...samplingFields,
  model: z.string().default(''),
  stream: z.boolean().default(false),
  parallel_tool_calls: z.boolean().optional(),
}
type Shared = z.output<z.ZodObject<typeof sharedFields>>

export const sharedSampling = (request: Shared): Sampling => ({
  ...samplingOf(request),
  parallelToolCalls: request.parallel_tool_calls,
})

/** An answer by a schema that has no name. */
export const formatOf = (schema: Readonly<Record<string, unknown>>): ResponseFormat => ({
  type: 'json_schema',
  json_schema: { name: 'answer', schema },
})

/** Whether the model is to think; null where the caller does not say. */
export const thinkingOf = (effort: string | null | undefined): boolean | null =>
  effort === null || effort === undefined ? null : effort !== 'none' && effort !== 'minimal'

/** An unchecked JSON Schema, except that its `type` is absent or the given one. */
export const schemaObject = (type?: string) =>
  z
    .custom<Readonly<Record<string, unknown>>>((value) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
      return type === undefined || !('type' in value) || value.type === type
    })
    .meta({ type: 'object', additionalProperties: true })

/** A named schema of the answer. */
export const answerSchema = {
  name: z.string(),
  description: text().nullish(),
  schema: schemaObject().nullish(),
  strict: z.boolean().nullish(),
}

/** Refuses a value with more text than `CLIENT_TOOLS_CHARS_MAX`. */
export function boundText(field: string) {
  return (value: unknown, context: z.RefinementCtx): unknown => {
    if (isLongerThan(value, CLIENT_TOOLS_CHARS_MAX)) {
      const message = issue('field_too_long', { field, max: CLIENT_TOOLS_CHARS_MAX })
      context.addIssue({ code: 'custom', message })
      return null
    }
    return value
  }
}

/** Whether the strings, names and items of parsed JSON count more than `most` together. */
export function isLongerThan(value: unknown, most: number): boolean {
  let left = most
  const visit = (item: unknown): void => {
    left -= typeof item === 'string' ? item.length : 4
    if (left < 0 || typeof item !== 'object' || item === null) return
    const fields = item as Readonly<Record<string, unknown>>
    // Stops early, which `Object.keys` could not.
    for (const name in fields) {
      left -= name.length
      if (left < 0) return
      visit(fields[name])
    }
  }
  visit(value)
  return left < 0
}

/** A name or id that is returned to the caller or sent to the model. */
export const name = () => z.string().max(NAME_CHARS_MAX)
const NAME_CHARS_MAX = 1_000

/** How long a conversation may be. */
export interface ChatLimits {
  readonly messages: number
  /** Characters of all texts together. */
  readonly chars: number
}

/**
 * Limits the messages of a list, their parts, calls and text before they are read. The text is
 * limited to twice its limit in characters here, in UTF-16 units, and exactly afterwards.
 */
export function boundMessages(field: string, limits: ChatLimits) {
  const partsMax = CHAT_PARTS_PER_MESSAGE * limits.messages
  return (given: unknown, context: z.RefinementCtx): unknown => {
    const list: readonly unknown[] = Array.isArray(given) ? given : [{ content: given }]
    const { parts, units } = sizeOf(list.slice(0, limits.messages), partsMax, 2 * limits.chars)
    const refuse = (message: string) => context.addIssue({ code: 'custom', message })
    if (list.length > limits.messages) {
      refuse(issue('field_too_big', { field, max: limits.messages }))
    } else if (parts > partsMax) {
      refuse(issue('field_too_big', { field, max: partsMax }))
    } else if (units > 2 * limits.chars) {
      refuse(issue('context_length_exceeded', { field, max: limits.chars }))
    }
    return given
  }
}

/** The parts and calls of unchecked messages, and the length of their texts. */
function sizeOf(messages: readonly unknown[], partsMax: number, most: number) {
  let parts = 0
  let units = 0
  const add = (value: unknown): void => {
    if (typeof value === 'string') units += value.length
    if (!Array.isArray(value)) return
    parts += value.length
    if (parts > partsMax) return
    for (const part of value) {
      add(part?.text)
      add(part?.function?.arguments)
      // Blocks of Anthropic's API: a call has its input as an object, a result has blocks.
      if (isLongerThan(part?.input, most)) units += most + 1
      add(part?.content)
    }
  }
  for (const message of messages as readonly (Partial<Record<string, unknown>> | null)[]) {
    add(message?.content)
    add(message?.tool_calls)
    add(message?.output)
    add(message?.arguments)
    add(message?.input)
  }
  return { parts, units }
}

/** For clients that can set a header but no field of the body. */
const SESSION_HEADER = 'X-Moonbase-Session'

/** For the same clients: `false` keeps the knowledge base out of the turn. */
const KB_HEADER = 'X-Moonbase-Kb'

export const isWithoutKb = (headers: Headers): boolean =>
  headers.get(KB_HEADER)?.trim().toLowerCase() === 'false'

export interface NamedSession {
  /** The field of the body, and its value. */
  readonly field: string
  readonly given: string | undefined
}

/**
 * The session that a caller asks for: by the body, else by the header; null for none. Throws a 400
 * for a name that is too long or a header that is not percent-encoded UTF-8.
 */
export function sessionOf({ field, given }: NamedSession, headers: Headers): string | null {
  const inBody = given?.trim().toWellFormed() ?? ''
  const name = inBody || decoded(headers.get(SESSION_HEADER) ?? '').trim()
  if (charCount(name) > SESSION_ID_CHARS_MAX) {
    const param = inBody === '' ? SESSION_HEADER : field
    throw appError('field_too_long', { field: param, max: SESSION_ID_CHARS_MAX }, { param })
  }
  return name === '' ? null : name
}

/** Decodes UTF-8 from a header, of which the runtime gives each byte as a character. */
function decoded(value: string): string {
  try {
    const bytes = Buffer.from(value, 'latin1')
    return decodeURIComponent(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw appError('field_invalid', { field: SESSION_HEADER }, { param: SESSION_HEADER })
  }
}
