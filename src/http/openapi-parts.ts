import type { z } from 'zod'
import { jsonSchema } from './body.ts'

/** Route documentation that no schema contains. */

/** Optional query parameters of an operation, by name and description. */
export const queryDoc = (parameters: Readonly<Record<string, string>>) =>
  Object.entries(parameters).map(([name, description]) => ({
    name,
    in: 'query' as const,
    required: false,
    description,
    schema: { type: 'string' as const },
  }))

/** The answer of a turn (specification, Events). */
export const TURN_DOC = {
  200: {
    description:
      'Server-Sent Events; the data of each is JSON with its type field. The stats event has ' +
      'kb:"skipped" when the turn went on without its passages because retrieval failed or was ' +
      'late; else it has no field kb. Its input_tokens and output_tokens are sums over the model ' +
      'calls; usage_estimated says that a call did not tell its own.',
    content: { 'text/event-stream': { schema: { type: 'string' as const } } },
  },
}

/** A redirect of a browser. */
export const REDIRECT_DOC = { 302: { description: 'Goes on at Location' } }

/** A body that is bytes, such as a recording. */
export const BYTES_BODY_DOC = {
  required: true,
  content: {
    'application/octet-stream': { schema: { type: 'string' as const, format: 'binary' } },
  },
}

/** An answer that is bytes, such as sound. */
export const binaryDoc = (contentType: string, description: string) => ({
  200: {
    description,
    content: { [contentType]: { schema: { type: 'string' as const, format: 'binary' } } },
  },
})

/** The answer of a route that writes its own JSON (http/json-answers.ts). */
export const jsonDoc = (schema: z.ZodType) => ({
  200: {
    description: 'Success',
    content: {
      'application/json': {
        get schema() {
          return jsonSchema(schema, 'output')
        },
      },
    },
  },
})
