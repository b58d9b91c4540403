import { z } from 'zod'
import { BODY_BYTES_MAX } from '../core/limits/contract.ts'
import { readJson, readOptionalJson, type Sender } from './body.ts'

export interface JsonBodyOptions {
  readonly bytesMax?: number
  /** An absent or empty body counts as `{}`. */
  readonly optional?: boolean
  /** Documented in place of the schema, where that one takes items that are checked one by one. */
  readonly shown?: z.ZodType
}

/**
 * What a route reads and what its documentation shows, from one schema. Handlers read the body
 * themselves, after credential, rate limit and rights (contract, Order of checks), so the framework
 * knows nothing of it: `detail: { requestBody: body.doc }` tells the OpenAPI document.
 */
export function jsonBody<Schema extends z.ZodType>(schema: Schema, options: JsonBodyOptions = {}) {
  const { bytesMax = BODY_BYTES_MAX, optional = false, shown = schema } = options
  const read = optional ? readOptionalJson : readJson
  return {
    read: (request: Request, sender?: Sender) => read(request, schema, bytesMax, sender),
    doc: {
      required: !optional,
      content: {
        'application/json': {
          // Made when it is asked for: a server that starts has no time for documentation.
          get schema() {
            return jsonSchema(shown, 'input')
          },
        },
      },
    },
  }
}

/** OpenAPI 3.0's dialect of JSON Schema, which every generator of clients reads. */
export function jsonSchema(schema: z.ZodType, io: 'input' | 'output') {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    target: 'openapi-3.0',
    io,
    unrepresentable: 'any',
  })
  return rest as Record<string, unknown>
}
