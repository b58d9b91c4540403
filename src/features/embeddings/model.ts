import { z } from 'zod'
import { issue } from '../../core/errors.ts'
import { EMBEDDING_CHARS_MAX, EMBEDDING_TEXTS_MAX } from '../../core/limits/contract.ts'
import { charCount } from '../../core/text.ts'

/** The model of a request that names none; this name is always accepted. */
export const EMBEDDING_MODEL = 'moonbase-embedding'

const text = z
  .string({ error: issue('field_type', { field: 'input', kind: 'string_or_array' }) })
  .min(1, { error: issue('field_empty', { field: 'input' }) })
  .overwrite((value) => value.toWellFormed())

const charsOf = (texts: readonly string[]) =>
  texts.reduce((sum, value) => sum + charCount(value), 0)

const isTokenIds = (input: unknown) =>
  Array.isArray(input) && [input[0], input[0]?.[0]].some((value) => typeof value === 'number')

const input = z
  .unknown()
  .refine((value) => !isTokenIds(value), { error: issue('input_token_ids'), abort: true })
  .refine((value) => value !== '', { error: issue('field_empty', { field: 'input' }), abort: true })
  .transform((value) => (typeof value === 'string' ? [value] : value))
  .pipe(
    z
      .array(text, { error: issue('field_required', { field: 'input', kind: 'string_or_array' }) })
      .min(1, { error: issue('field_empty', { field: 'input' }) })
      .max(EMBEDDING_TEXTS_MAX, {
        error: issue('field_too_big', { field: 'input', max: EMBEDDING_TEXTS_MAX }),
      })
      .refine((texts) => charsOf(texts) <= EMBEDDING_CHARS_MAX, {
        error: issue('context_length_exceeded', { field: 'input', max: EMBEDDING_CHARS_MAX }),
      }),
  )
  .meta({
    anyOf: [
      { type: 'string', minLength: 1 },
      {
        type: 'array',
        items: { type: 'string', minLength: 1 },
        minItems: 1,
        maxItems: EMBEDDING_TEXTS_MAX,
      },
    ],
  })

const oneOf = <const Values extends readonly [string, ...string[]]>(
  field: string,
  values: Values,
) => z.enum(values, { error: issue('unsupported_value', { field }) }).nullish()

/** Body of POST /v1/embeddings. */
export const EmbeddingsRequest = z.lazy(() =>
  z.object({
    input,
    model: z.string({ error: issue('field_type', { field: 'model', kind: 'string' }) }).nullish(),
    encoding_format: oneOf('encoding_format', ['float', 'base64']),
    dimensions: z.int({ error: issue('unsupported_value', { field: 'dimensions' }) }).nullish(),
    input_type: oneOf('input_type', ['query', 'passage']),
  }),
)
export type EmbeddingsRequest = z.infer<typeof EmbeddingsRequest>

const embedding = z.lazy(() =>
  z.object({
    object: z.literal('embedding'),
    index: z.int(),
    embedding: z
      .union([z.array(z.number()), z.string()])
      .describe('With encoding_format base64 a string, of little-endian float32'),
  }),
)

export const EmbeddingsResponse = z.lazy(() =>
  z.object({
    object: z.literal('list'),
    data: z.array(embedding),
    model: z.string(),
    usage: z.object({ prompt_tokens: z.int(), total_tokens: z.int() }),
  }),
)
