import { z } from 'zod'
import { checkImage } from '../../channels/egress/images.ts'
import { issue } from '../../core/errors.ts'
import { CHAT_MESSAGES_MAX, TEMPERATURE_MAX } from '../../core/limits/contract.ts'
import { CHAT_PARTS_MAX, CLIENT_TOOLS_CHARS_MAX } from '../../core/limits/machine.ts'

/** Fields that chat completions and responses have in common. */

/** A null field is absent (contract 2, 1.12). */
export const withoutNulls = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).filter(([, item]) => item !== null))
    : value

/** Lone surrogates have no UTF-8 form. */
export const text = () => z.string().overwrite((value) => value.toWellFormed())

/** The length is checked before the items: a long list would be read for nothing. */
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

/** A field that is refused whatever it says. */
export const refused = (field: string) =>
  z.never({ error: issue('unsupported_parameter', { field }) }).optional()

/** An image as a link or as data. */
export const imageUrl = z.string().superRefine((url, context) => {
  const problem = checkImage(url)
  if (problem) context.addIssue({ code: 'custom', message: problem })
})

export const temperature = z.number().min(0).max(TEMPERATURE_MAX).optional()
export const share = z.number().min(0).max(1).optional()
export const penalty = z.number().min(-2).max(2).optional()

/** An object whose text is bounded, because it is written out for each model call. */
export const schemaObject = z.record(z.string(), z.unknown())

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

/** Whether the strings, names and items of parsed JSON are more than `most` together. */
function isLongerThan(value: unknown, most: number): boolean {
  let left = most
  const visit = (item: unknown): void => {
    left -= typeof item === 'string' ? item.length : 4
    if (left < 0 || typeof item !== 'object' || item === null) return
    for (const [name, inner] of Object.entries(item)) {
      left -= name.length
      if (left < 0) return
      visit(inner)
    }
  }
  visit(value)
  return left < 0
}

export const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/

/** The JSON Schema of a tool's arguments: that of an object, or absent. */
export const toolParameters = schemaObject.refine(
  ({ type }) => type === undefined || type === 'object',
  { error: issue('field_invalid', { field: 'parameters' }) },
)

/** A tool without parameters takes none. */
export const NO_PARAMETERS = { type: 'object', properties: {} }

/** Counts the messages of a list, their parts and their calls before they are read. */
export const boundParts = (field: string) => (given: unknown, context: z.RefinementCtx) => {
  if (!Array.isArray(given)) return given
  const lengthOf = (value: unknown) => (Array.isArray(value) ? value.length : 0)
  let parts = 0
  for (const message of given.slice(0, CHAT_MESSAGES_MAX)) {
    parts += lengthOf(message?.content) + lengthOf(message?.tool_calls) + lengthOf(message?.output)
  }
  if (parts > CHAT_PARTS_MAX || given.length > CHAT_MESSAGES_MAX) {
    const max = parts > CHAT_PARTS_MAX ? CHAT_PARTS_MAX : CHAT_MESSAGES_MAX
    context.addIssue({ code: 'custom', message: issue('field_too_big', { field, max }) })
  }
  return given
}
