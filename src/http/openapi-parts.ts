import type { z } from 'zod'
import { jsonSchema } from './body.ts'

/** Route documentation that no schema contains. */

const text = { type: 'string' as const }

/** Optional query parameters of an operation, by name and description. */
export const queryDoc = (parameters: Readonly<Record<string, string>>) =>
  Object.entries(parameters).map(([name, description]) => ({
    name,
    in: 'query' as const,
    required: false,
    description,
    schema: text,
  }))

/** Optional headers of a request, by name and description. */
export const headerDoc = (headers: Readonly<Record<string, string>>) =>
  Object.entries(headers).map(([name, description]) => ({
    name,
    in: 'header' as const,
    required: false,
    description,
    schema: text,
  }))

/** A redirect of a browser. */
export const REDIRECT_DOC = { 302: { description: 'Goes on at Location' } }

/** OpenAPI 3.1 has the media type; generators of clients need `format`. */
const bytes = {
  type: 'string' as const,
  format: 'binary',
  contentMediaType: 'application/octet-stream',
}

/** A body that is bytes, such as a recording. */
export const BYTES_BODY_DOC = {
  required: true,
  content: { 'application/octet-stream': { schema: bytes } },
}

/** A form with one file, `file`, and text fields beside it. */
export const formDoc = (fields: z.ZodObject) => ({
  required: true,
  content: {
    'multipart/form-data': {
      get schema() {
        const { properties, required } = jsonSchema(fields, 'input')
        return {
          type: 'object' as const,
          required: ['file', ...(required as string[])],
          properties: { file: bytes, ...(properties as object) },
        }
      },
    },
  },
})

type Headers = Record<string, { readonly description?: string; readonly schema: object }>

/** Answers by their media types. */
type Contents = Record<string, { readonly schema: object }>

export const answerDoc = (description: string, content: Contents, headers: Headers = {}) => ({
  200: { description, content, headers },
})

/** JSON of a schema. */
export const jsonContent = (schema: z.ZodType): Contents => ({
  'application/json': {
    get schema() {
      return jsonSchema(schema, 'output')
    },
  },
})

/** Bytes of media types, such as sound. */
export const bytesContent = (...types: readonly string[]): Contents =>
  Object.fromEntries(types.map((type) => [type, { schema: bytes }]))

/** Text of media types, such as a stream of events. */
export const textContent = (...types: readonly string[]): Contents =>
  Object.fromEntries(types.map((type) => [type, { schema: text }]))

export const EVENTS_CONTENT = textContent('text/event-stream')

/** The answer of a route that writes its own JSON (http/json-answers.ts). */
export const jsonDoc = (schema: z.ZodType) => answerDoc('Success', jsonContent(schema))
