import { MANAGERS } from '../../core/principal.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gated } from '../../http/gate.ts'
import { pageDoc, pageOf } from '../../http/list-page.ts'
import { Prompt, PromptDeleted, PromptListResponse, PromptRequest } from './model.ts'
import type { Prompts } from './service.ts'

const body = jsonBody(PromptRequest)

/** Prompts, on both surfaces. */
export const promptRoutes = (on: Gated, prompts: Prompts) =>
  on
    .get(
      '/prompts',
      ({ principal, request }) => {
        const { before, limit } = pageOf(request)
        return prompts.list(principal.tenantId, before, limit)
      },
      {
        allow: MANAGERS,
        response: PromptListResponse,
        detail: { summary: 'List prompts, newest first', parameters: pageDoc('prompts') },
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
