import { PROGRAMS } from '../../core/principal.ts'
import { charCount } from '../../core/text.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gated } from '../../http/gate.ts'
import type { JsonAnswers } from '../../http/json-answers.ts'
import type { RequestContexts } from '../../http/observe.ts'
import { jsonDoc } from '../../http/openapi-parts.ts'
import { withoutIdleTimeout } from '../../http/request-limits.ts'
import { EmbeddingsRequest, EmbeddingsResponse } from './model.ts'
import type { Embeddings } from './service.ts'

export interface EmbeddingsRouteOptions {
  readonly embeddings: Embeddings
  readonly answers: JsonAnswers
  readonly contexts: RequestContexts
}

const body = jsonBody(EmbeddingsRequest)
/** POST /v1/embeddings, as clients of OpenAI's API call it. */
export const embeddingsRoutes = (
  on: Gated,
  { embeddings, answers, contexts }: EmbeddingsRouteOptions,
) =>
  on.post(
    '/embeddings',
    async ({ principal, request, upload, server, set }) => {
      const input = await body.read(request, upload)
      const textChars = input.input.reduce((sum, text) => sum + charCount(text), 0)
      contexts.note(request, { textChars })
      const embed = () => embeddings.embed(principal.tenantId, input, request.signal)
      // A small machine may embed for minutes.
      const { vectors, model, tokens } = await withoutIdleTimeout(request, server, embed)
      const encode = input.encoding_format === 'base64' ? base64Of : Array.from<number>
      const answer = {
        object: 'list',
        data: itemsOf(vectors, encode),
        model,
        usage: { prompt_tokens: tokens, total_tokens: tokens },
      }
      const bytes = vectors.reduce((sum, { byteLength }) => sum + byteLength, 0)
      return answers.respond({ principal, request, server, set }, async () => answer, bytes)
    },
    {
      allow: PROGRAMS,
      parse: 'none',
      detail: {
        summary: 'Vectors of texts',
        requestBody: body.doc,
        responses: jsonDoc(EmbeddingsResponse),
      },
    },
  )

/** The entries of an answer, each built when it is sent: a vector takes 15 KB of JSON. */
async function* itemsOf(
  vectors: readonly Float32Array[],
  encode: (vector: Float32Array) => string | number[],
) {
  for (const [index, vector] of vectors.entries()) {
    yield { object: 'embedding', index, embedding: encode(vector) }
  }
}

/** Float32 in the byte order of this machine: all supported platforms are little-endian. */
const base64Of = (vector: Float32Array): string =>
  Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('base64')
