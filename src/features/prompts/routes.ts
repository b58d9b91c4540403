import { MANAGERS } from '../../core/principal.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gated } from '../../http/gate.ts'
import type { JsonAnswers } from '../../http/json-answers.ts'
import { pageDoc, pageOf } from '../../http/list-page.ts'
import { jsonDoc } from '../../http/openapi-parts.ts'
import { Prompt, PromptDeleted, PromptListResponse, PromptRequest } from './model.ts'
import type { Prompts } from './service.ts'

const body = jsonBody(PromptRequest)

/** Prompts, on both surfaces. */
export const promptRoutes = (on: Gated, prompts: Prompts, answers: JsonAnswers) =>
  on
    .get(
      '/prompts',
      (context) => {
        const { before, limit } = pageOf(context.request)
        const { tenantId } = context.principal
        return answers.respond(context, () => prompts.list(tenantId, before, limit))
      },
      {
        allow: MANAGERS,
        detail: {
          summary: 'List prompts, newest first',
          parameters: pageDoc('prompts'),
          responses: jsonDoc(PromptListResponse),
        },
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
