import { type AnyElysia, Elysia } from 'elysia'
import { z } from 'zod'
import { ERRORS } from '../core/error-table.ts'
import { hasJsonErrors } from './error-forms.ts'
import { FIELD_WORDS } from './field-words.ts'
import { jsonContent } from './openapi-parts.ts'

/** Version of the interface, not of the program. */
const INTERFACE_VERSION = '1.0.0'

const DESCRIPTION =
  'Multi-tenant agent platform. /v1 takes an API key as Bearer token, /console the session ' +
  'cookie of a signed-in person; where both have a path, they behave identically. Errors are ' +
  'one short Chinese sentence as text/plain, with its code in X-Error-Code; on the paths of ' +
  'OpenAI (chat completions, responses, models, embeddings, audio) they are JSON as there. ' +
  'Visitors of a shared app need no credential but the token of its link, triggers none but theirs.'

/** The table of errors (core/error-table.ts), once for all operations. */
const ERROR_HEADERS = {
  'X-Error-Code': {
    description: [
      'What went wrong, in a word that stays the same:\n',
      ...Object.entries(ERRORS).map(
        ([code, [status, sentence]]) => `- \`${code}\` ${status} ${sentence}`,
      ),
    ].join('\n'),
    schema: { type: 'string', enum: Object.keys(ERRORS) },
  },
  'X-Error-Params': {
    description: 'The values of the sentence, such as field=name&max=60',
    schema: { type: 'string' },
  },
  'Retry-After': {
    description: 'Seconds, at 429 and 503: after them it may go well',
    schema: { type: 'integer', minimum: 1 },
  },
}

const headers = Object.fromEntries(
  Object.keys(ERROR_HEADERS).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
)

const ERROR = {
  description: 'Refused or failed; one short sentence, its code in X-Error-Code',
  headers,
  content: { 'text/plain': { schema: { type: 'string' } } },
}

const text = { type: 'string' } as const
const textOrNull = { type: ['string', 'null'] } as const

const OPENAI_ERROR = {
  description: 'Refused or failed, in the form of OpenAI; its code is in X-Error-Code, too',
  headers,
  content: {
    'application/json': {
      schema: {
        type: 'object',
        required: ['error'],
        properties: {
          error: {
            type: 'object',
            required: ['message', 'type', 'param', 'code'],
            properties: { message: text, type: text, param: textOrNull, code: textOrNull },
          },
        },
      },
    },
  },
}

const ANTHROPIC_ERROR = {
  description: 'Refused or failed, in the form of Anthropic; its code is in X-Error-Code, too',
  headers,
  content: {
    'application/json': {
      schema: {
        type: 'object',
        required: ['type', 'error', 'request_id'],
        properties: {
          type: { type: 'string', const: 'error' },
          error: {
            type: 'object',
            required: ['type', 'message'],
            properties: { type: text, message: text },
          },
          request_id: text,
        },
      },
    },
  },
}

function errorDocOf(path: string): object {
  if (path.startsWith('/v1/messages')) return ANTHROPIC_ERROR
  return hasJsonErrors(path) ? OPENAI_ERROR : ERROR
}

/** Security schemes by the names of the gates. */
const SECURITY_SCHEMES = {
  machine: { type: 'http', scheme: 'bearer', description: 'API key sk-mb-…' },
  console: { type: 'apiKey', in: 'cookie', name: 'mb_session' },
}

type Route = AnyElysia['routes'][number]

interface Detail {
  readonly hide?: boolean
  readonly parameters?: readonly object[]
  readonly responses?: Readonly<Record<string, object>>
}

/**
 * The OpenAPI document of both surfaces, of login, shares and triggers, made from the schemas that
 * the routes validate with. `app` is complete when this is called.
 */
export function openApiDocument(app: AnyElysia) {
  const paths: Record<string, Record<string, object>> = {}
  for (const route of app.routes) {
    if (!/^\/(v1|console|auth|s|hooks)\//.test(route.path) || detailOf(route).hide) continue
    const path = route.path.replace(/:(\w+)\??/g, '{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, path) }
  }
  return {
    openapi: '3.1.1',
    info: { title: 'Moonbase', version: INTERFACE_VERSION, description: DESCRIPTION },
    servers: [{ url: '/' }],
    paths: withFieldWords(paths),
    components: { securitySchemes: SECURITY_SCHEMES, headers: ERROR_HEADERS },
  }
}

/** A copy with descriptions of the fields, except on OpenAI's paths. */
function withFieldWords(paths: Record<string, Record<string, object>>) {
  const copy = JSON.parse(JSON.stringify(paths)) as Record<string, Documented>
  for (const [path, operations] of Object.entries(copy)) {
    if (hasJsonErrors(path)) continue
    for (const { requestBody, responses } of Object.values(operations)) {
      for (const { content } of [requestBody ?? {}, ...Object.values(responses)]) {
        for (const { schema } of Object.values(content ?? {})) describe(schema)
      }
    }
  }
  return copy
}

interface Contents {
  readonly content?: Readonly<Record<string, { readonly schema: Parameters<typeof describe>[0] }>>
}

type Documented = Record<
  string,
  { readonly requestBody?: Contents; readonly responses: Readonly<Record<string, Contents>> }
>

const detailOf = ({ hooks }: Route): Detail => hooks.detail ?? {}

/** The route's own documentation and what every operation has in common. */
function operationOf(route: Route, path: string) {
  const { parameters = [], responses, ...detail } = detailOf(route)
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  const words = path.split(/\W+/).filter(Boolean)
  return {
    operationId: [route.method.toLowerCase(), ...words].join('_'),
    tags: [words[1]],
    security: [],
    ...detail,
    parameters: [...inPath, ...parameters],
    responses: {
      ...answersOf(route.hooks.response),
      ...responses,
      default: errorDocOf(path),
    },
  }
}

/** The answers of a route that declares one schema, or one for each status. */
function answersOf(response: unknown): Record<string, object> {
  const byStatus = response instanceof z.ZodType ? { 200: response } : (response ?? {})
  return Object.fromEntries(
    Object.entries(byStatus).flatMap(([status, schema]) =>
      schema instanceof z.ZodType
        ? [[status, { description: 'Success', content: jsonContent(schema) }]]
        : [],
    ),
  )
}

/** GET /openapi.json; made on the first request. */
export function openApiRoutes(appOf: () => AnyElysia) {
  let text: string | null = null
  const respond = () => {
    text ??= JSON.stringify(openApiDocument(appOf()))
    return new Response(text, {
      headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-cache' },
    })
  }
  return new Elysia().get('/openapi.json', respond).head('/openapi.json', respond)
}

interface Schema {
  description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
}

/** Adds the words for fields whose schema has none, in place. */
function describe(schema: Schema): void {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const words = FIELD_WORDS[name]
    if (words !== undefined) field.description ??= words
    describe(field)
  }
  const inner = [schema.items, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
  for (const one of inner) if (one) describe(one)
}
