/** The part of JSON Schema that the console shows. */
export interface Schema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  /** Only used as "not anything": the field is refused. */
  readonly not?: Schema
  readonly description?: string
  readonly default?: unknown
  readonly maxLength?: number
  readonly minItems?: number
}

export interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>
  readonly description?: string
}

export interface Body {
  readonly mediaType: string
  readonly schema: Schema
}

export interface Operation {
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly parameters: readonly Parameter[]
  readonly body: Body | null
  /** Whether it may be called without a credential. */
  readonly isOpen: boolean
  readonly responses: readonly Answer[]
}

interface Answer {
  readonly status: string
  readonly description: string
  /** One for each form that the answer can have. */
  readonly bodies: readonly Body[]
}

export interface Group {
  readonly name: string
  readonly operations: readonly Operation[]
}

interface RawOperation {
  readonly security?: readonly unknown[]
  readonly summary?: string
  readonly description?: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Content
  readonly responses?: Readonly<Record<string, Content>>
}

interface Document {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

/** The most used groups come first; others follow in the order of the document. */
const ORDER = ['agent', 'sessions', 'voice', 'tts', 'asr', 'kb', 'apps', 'devices']
const METHODS = ['get', 'post', 'put', 'delete']
export const JSON_TYPE = 'application/json'

/** The operations of one surface, such as `/v1`, grouped by the noun after it. */
export function groupsOf(document: unknown, surface: string): Group[] {
  const operations = Object.entries((document as Document).paths ?? {})
    .filter(([path]) => path === surface || path.startsWith(`${surface}/`))
    .flatMap(([path, item]) =>
      METHODS.filter((method) => item[method]).map((method) =>
        operation(method, path, item[method] as RawOperation),
      ),
    )
  const groups = Map.groupBy(operations, ({ path }) => path.slice(surface.length + 1).split('/')[0])
  const place = (name: string) => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length)
  return [...groups]
    .map(([name = '', list]) => ({ name, operations: list }))
    .sort((a, b) => place(a.name) - place(b.name))
}

function operation(method: string, path: string, raw: RawOperation): Operation {
  return {
    method: method.toUpperCase(),
    path,
    summary: raw.summary ?? '',
    description: raw.description ?? '',
    parameters: raw.parameters ?? [],
    body: bodiesOf(raw.requestBody)[0] ?? null,
    isOpen: raw.security?.length === 0,
    responses: Object.entries(raw.responses ?? {}).map(([status, answer]) => ({
      status,
      description: answer.description ?? '',
      bodies: bodiesOf(answer),
    })),
  }
}

const bodiesOf = ({ content = {} }: Content = {}): Body[] =>
  Object.entries(content).map(([mediaType, { schema = {} }]) => ({ mediaType, schema }))

/** The alternatives of a schema. */
export const choicesOf = ({ anyOf, oneOf }: Schema): readonly Schema[] | undefined => anyOf ?? oneOf

/** `string | null`, `integer[]`, `"skip" | "merge"`, `string | object[]`. */
export function typeOf(schema: Schema): string {
  const { type = 'any', items, not } = schema
  const choices = choicesOf(schema)
  if (choices) return [...new Set(choices.map(typeOf))].join(' | ')
  const values = 'const' in schema ? [schema.const] : schema.enum
  if (values) return values.map((value) => JSON.stringify(value)).join(' | ')
  if (not) return 'never'
  if (schema.format === 'binary') return 'bytes'
  if (typeof type !== 'string') return type.join(' | ')
  if (!items) return type
  const item = typeOf(items)
  return item.includes(' ') ? `(${item})[]` : `${item}[]`
}

const EMPTY: Readonly<Record<string, unknown>> = {
  array: [],
  boolean: false,
  integer: 0,
  number: 0,
}

/** An example body: required fields, fields with a default, and the first of alternatives. */
export function example(schema: Schema): unknown {
  if (schema.default !== undefined) return schema.default
  if ('const' in schema) return schema.const
  if (schema.enum) return schema.enum[0]
  const choice = choicesOf(schema)?.[0]
  if (choice) return example(choice)
  if (schema.items && schema.minItems) return [example(schema.items)]
  const type = typeof schema.type === 'string' ? schema.type : schema.type?.[0]
  if (type !== 'object') return EMPTY[type ?? ''] ?? ''
  const wanted = Object.entries(schema.properties ?? {}).filter(
    ([name, property]) => schema.required?.includes(name) || property.default !== undefined,
  )
  return Object.fromEntries(wanted.map(([name, property]) => [name, example(property)]))
}
