/** The part of JSON Schema that the console shows. */
export interface Schema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly enum?: readonly unknown[]
  readonly description?: string
  readonly default?: unknown
  readonly nullable?: boolean
  readonly maxLength?: number
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

export interface Operation {
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly parameters: readonly Parameter[]
  readonly body: Schema | null
  /** Media type of a body that is not JSON. */
  readonly rawBody: string | null
  readonly responses: readonly (Content & { readonly status: string })[]
}

export interface Group {
  readonly name: string
  readonly operations: readonly Operation[]
}

interface RawOperation {
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
const JSON_TYPE = 'application/json'

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
  const content = raw.requestBody?.content ?? {}
  const rawBody = Object.keys(content).find((type) => type !== JSON_TYPE) ?? null
  return {
    method: method.toUpperCase(),
    path,
    summary: raw.summary ?? '',
    description: raw.description ?? '',
    parameters: raw.parameters ?? [],
    body: content[JSON_TYPE]?.schema ?? null,
    rawBody: content[JSON_TYPE] ? null : rawBody,
    responses: Object.entries(raw.responses ?? {}).map(([status, answer]) => ({
      status,
      ...answer,
    })),
  }
}

/** The schema of an answer, whatever its media type. */
export const answerSchema = (answer: Content): Schema | null =>
  Object.values(answer.content ?? {})[0]?.schema ?? null

/** `string | null`, `integer[]`, `"skip" | "merge"`. */
export function typeOf({ type = 'any', enum: values, items, nullable }: Schema): string {
  if (values) return values.map((value) => JSON.stringify(value)).join(' | ')
  const item = items && typeOf(items)
  const shown = item === undefined ? type : item.includes(' ') ? `(${item})[]` : `${item}[]`
  return nullable ? `${shown} | null` : shown
}

const EMPTY: Readonly<Record<string, unknown>> = {
  array: [],
  boolean: false,
  integer: 0,
  number: 0,
}

/** An example body: required fields, and fields with a default. */
export function example(schema: Schema): unknown {
  if (schema.default !== undefined) return schema.default
  if (schema.enum) return schema.enum[0]
  if (schema.type !== 'object') return EMPTY[schema.type ?? ''] ?? ''
  const wanted = Object.entries(schema.properties ?? {}).filter(
    ([name, property]) => schema.required?.includes(name) || property.default !== undefined,
  )
  return Object.fromEntries(wanted.map(([name, property]) => [name, example(property)]))
}
