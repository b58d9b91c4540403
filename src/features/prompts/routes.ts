import { Elysia } from 'elysia'
import { clampedLimit } from '../../core/fields.ts'
import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX } from '../../core/limits/contract.ts'
import { MANAGERS } from '../../core/principal.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gate } from '../../http/gate.ts'
import { queryDoc } from '../../http/openapi-parts.ts'
import { Prompt, PromptDeleted, PromptListResponse, PromptRequest } from './model.ts'
import type { Prompts } from './service.ts'

const body = jsonBody(PromptRequest)

const LIST_QUERY = queryDoc({
  limit: 'prompts returned, 1 to 200; default 50',
  before: 'next_before of the page before',
})

/** Prompts, on both surfaces. */
export const promptRoutes = (gate: Gate, prompts: Prompts) =>
  new Elysia()
    .use(gate)
    .get(
      '/prompts',
      ({ principal, request }) => {
        const query = new URL(request.url).searchParams
        const limit = clampedLimit(query.get('limit'), LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX)
        return prompts.list(principal.tenantId, query.get('before') || null, limit)
      },
      {
        allow: MANAGERS,
        response: PromptListResponse,
        detail: { summary: 'List prompts, newest first', parameters: LIST_QUERY },
      },
    )
    .post(
      '/prompts',
      async ({ principal, request, upload, set }) => {
        const prompt = await prompts.create(principal.tenantId, await body.read(request, upload))
        set.status = 201
        return prompt
      },
      {
        allow: MANAGERS,
        parse: 'none',
        response: { 201: Prompt },
        detail: { summary: 'Create a prompt', requestBody: body.doc },
      },
    )
    .get('/prompts/:id', ({ principal, params }) => prompts.read(principal.tenantId, params.id), {
      allow: MANAGERS,
      response: Prompt,
      detail: { summary: 'Read a prompt' },
    })
    .put(
      '/prompts/:id',
      async ({ principal, params, request, upload }) =>
        prompts.replace(principal.tenantId, params.id, await body.read(request, upload)),
      {
        allow: MANAGERS,
        parse: 'none',
        response: Prompt,
        detail: { summary: 'Replace a prompt', requestBody: body.doc },
      },
    )
    .delete(
      '/prompts/:id',
      ({ principal, params }) => prompts.remove(principal.tenantId, params.id),
      {
        allow: MANAGERS,
        response: PromptDeleted,
        detail: { summary: 'Delete a prompt' },
      },
    )
