import { z } from 'zod'
import { AppError, appError } from '../../core/errors.ts'
import { checked } from '../../core/fields.ts'
import { PROGRAMS } from '../../core/principal.ts'
import { charCount } from '../../core/text.ts'
import type { EmbeddingsRequest } from '../../features/embeddings/model.ts'
import type { Embeddings } from '../../features/embeddings/service.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gated } from '../../http/gate.ts'
import type { RequestContexts } from '../../http/observe.ts'
import { withoutLatest } from '../../http/ollama-path.ts'
import { withoutIdleTimeout } from '../../http/request-limits.ts'
import type { Caller } from '../shared/endpoint.ts'
import { bodyOf } from '../shared/fields.ts'
import { unknownModel } from './models.ts'

export interface EmbedOptions {
  readonly embeddings: Embeddings
  /** What may be embedded, as POST /v1/embeddings checks it. */
  readonly embeddingsRequest: z.ZodType<EmbeddingsRequest>
  readonly contexts: RequestContexts
  readonly clock: { readonly steady: () => number }
}

const CONFIG = { allow: PROGRAMS, parse: 'none', detail: { hide: true } } as const

type Asking = Pick<Caller, 'principal' | 'request' | 'server'>

const fields = { model: z.string().default(''), name: z.string().default('') }
const EmbedRequest = bodyOf(() => z.object({ ...fields, input: z.unknown().optional() }))
const OldRequest = bodyOf(() => z.object({ ...fields, prompt: z.unknown().optional() }))

/** Vectors of texts, in the form of today and in the older one. */
export const embedRoutes = (on: Gated, options: EmbedOptions) => {
  const { embeddings, embeddingsRequest, contexts, clock } = options
  const body = jsonBody(EmbedRequest)
  const oldBody = jsonBody(OldRequest)

  async function embed({ principal, request, server }: Asking, name: string, given: unknown) {
    const startedAt = clock.steady()
    const wanted = { input: given, model: withoutLatest(name.trim()) }
    const input = checked(embeddingsRequest, wanted)
    const textChars = input.input.reduce((sum, text) => sum + charCount(text), 0)
    contexts.note(request, { textChars })
    const work = () => embeddings.embed(principal.tenantId, input, request.signal)
    const found = await withoutIdleTimeout(request, server, work).catch((error: unknown) => {
      const isUnknown = error instanceof AppError && error.code === 'model_not_found'
      throw isUnknown ? unknownModel(name) : error
    })
    const ns = Math.max(1, Math.round((clock.steady() - startedAt) * 1e6))
    return { ...found, vectors: found.vectors.map((vector) => Array.from(vector)), ns }
  }

  return on
    .post(
      '/api/embed',
      async ({ principal, request, upload, server }) => {
        const { model, name, input } = await body.read(request, upload)
        const asked = model || name
        const found = await embed({ principal, request, server }, asked, input)
        const { vectors, tokens, ns } = found
        return {
          model: asked || found.model,
          embeddings: vectors,
          total_duration: ns,
          load_duration: 0,
          prompt_eval_count: tokens,
        }
      },
      CONFIG,
    )
    .post(
      '/api/embeddings',
      async ({ principal, request, upload, server }) => {
        const { model, name, prompt } = await oldBody.read(request, upload)
        if (typeof prompt !== 'string') {
          throw appError('field_type', { field: 'prompt', kind: 'string' })
        }
        const { vectors } = await embed({ principal, request, server }, model || name, prompt)
        return { embedding: vectors[0] ?? [] }
      },
      CONFIG,
    )
}
