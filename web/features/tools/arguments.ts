/** The form of a tool's arguments, made from their schema (JSON Schema 2020-12, no references). */

type Schema = Readonly<Record<string, unknown>>

export interface Choice {
  /** As JSON. */
  readonly value: string
  readonly label: string
}

export interface ArgumentField {
  readonly name: string
  /** What people call it; the name where nothing else is given. */
  readonly label: string
  /** `json` is for values that no other kind of field can hold. */
  readonly kind: 'text' | 'number' | 'integer' | 'choice' | 'json'
  /** The type in the words of JSON Schema, such as `array`. */
  readonly type: string
  readonly description: string
  readonly required: boolean
  readonly choices: readonly Choice[]
  /** The initial value; empty leaves the argument out. */
  readonly initial: string
}

/** Values of the fields by name; empty leaves an argument out. */
export type Typed = Readonly<Record<string, string>>

export type Problem = 'missing' | 'number' | 'integer' | 'json' | 'object'

export function fieldsOf(schema: Schema): ArgumentField[] {
  const required = Array.isArray(schema.required) ? schema.required : []
  const properties = isRecord(schema.properties) ? schema.properties : {}
  return Object.entries(properties).map(([name, property]) =>
    fieldOf(name, isRecord(property) ? property : {}, required.includes(name)),
  )
}

function fieldOf(name: string, property: Schema, required: boolean): ArgumentField {
  const shape = shapeOf(property)
  const type = typeOf(shape)
  const choices = choicesOf(shape, type)
  const kind = choices.length > 0 ? 'choice' : (KINDS[type] ?? 'json')
  const { description = shape.description, title, default: value } = property
  return {
    ...{ name, kind, type, required, choices },
    label: typeof title === 'string' && title.trim() !== '' ? title : name,
    description: typeof description === 'string' ? description : '',
    initial: value === undefined || value === null ? '' : asTyped(kind, value),
  }
}

const KINDS: Readonly<Record<string, ArgumentField['kind']>> = {
  string: 'text',
  number: 'number',
  integer: 'integer',
}

/** Many servers write an argument that may be left out as "this, or null". */
function shapeOf(property: Schema): Schema {
  const branches = property.anyOf ?? property.oneOf
  if (!Array.isArray(branches)) return property
  const others = branches.filter((one) => isRecord(one) && one.type !== 'null')
  return others.length === 1 && isRecord(others[0]) ? others[0] : property
}

function typeOf({ type }: Schema): string {
  if (typeof type === 'string') return type
  const others = Array.isArray(type) ? type.filter((one) => one !== 'null') : []
  return others.length === 1 ? String(others[0]) : ''
}

function choicesOf(shape: Schema, type: string): Choice[] {
  const titled = shape.oneOf ?? shape.anyOf
  if (Array.isArray(titled) && titled.every((one) => isRecord(one) && one.const !== undefined)) {
    return titled.map(({ const: value, title }: Schema) => choiceOf(value, title))
  }
  if (Array.isArray(shape.enum)) return shape.enum.map((value) => choiceOf(value))
  if (shape.const !== undefined) return [choiceOf(shape.const)]
  return type === 'boolean' ? [choiceOf(true), choiceOf(false)] : []
}

const choiceOf = (value: unknown, title?: unknown): Choice => ({
  value: JSON.stringify(value),
  label: typeof title === 'string' ? title : String(value),
})

function asTyped(kind: ArgumentField['kind'], value: unknown): string {
  if (kind === 'json') return JSON.stringify(value, null, 2)
  return kind === 'choice' ? JSON.stringify(value) : String(value)
}

/** The arguments of a call, or the wrong field. */
export function argumentsOf(fields: readonly ArgumentField[], typed: Typed) {
  const problems: Record<string, Problem> = {}
  const args: Record<string, unknown> = {}
  for (const field of fields) {
    const text = typed[field.name] ?? field.initial
    if (text.trim() === '') {
      // A required text may be empty.
      if (!field.required) continue
      if (field.kind === 'text') args[field.name] = text
      else problems[field.name] = 'missing'
      continue
    }
    const value = typedValue(field, text)
    if (value === undefined)
      problems[field.name] = field.kind === 'choice' ? 'json' : WRONG[field.kind]
    else args[field.name] = value
  }
  return { args, problems }
}

const WRONG = { text: 'json', number: 'number', integer: 'integer', json: 'json' } as const

/** The value of a typed text; undefined when it is not valid for the field. */
function typedValue({ kind }: ArgumentField, text: string): unknown {
  if (kind === 'text') return text
  if (kind === 'json' || kind === 'choice') return parsed(text)
  const number = Number(text)
  const isRight = kind === 'integer' ? Number.isInteger(number) : Number.isFinite(number)
  return isRight ? number : undefined
}

/** All arguments as one text of JSON; null when it is no object. */
export function objectIn(text: string): Record<string, unknown> | null {
  const value = text.trim() === '' ? {} : parsed(text)
  return isRecord(value) ? value : null
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
