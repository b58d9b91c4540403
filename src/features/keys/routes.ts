import { Elysia } from 'elysia'
import { MANAGERS } from '../../core/principal.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gate } from '../../http/gate.ts'
import type { JsonAnswers } from '../../http/json-answers.ts'
import { jsonDoc } from '../../http/openapi-parts.ts'
import { IssueKeyRequest, IssueKeyResponse, KeyListResponse, KeyRevokeResponse } from './model.ts'
import type { Keys } from './service.ts'

const issue = jsonBody(IssueKeyRequest, { optional: true })

/** API keys of the tenant, for a signed-in person. */
export const keyRoutes = (gate: Gate, keys: Keys, answers: JsonAnswers) =>
  new Elysia()
    .use(gate)
    .get(
      '/keys',
      (context) => answers.respond(context, () => keys.list(context.principal.tenantId)),
      {
        allow: MANAGERS,
        detail: {
          summary: 'List API keys, revoked ones included',
          responses: jsonDoc(KeyListResponse),
        },
      },
    )
    .post(
      '/keys',
      async ({ principal, request, upload, set }) => {
        const { rate_limit: rateLimit } = await issue.read(request, upload)
        const issued = await keys.issue(principal.tenantId, { rateLimit })
        set.status = 201
        return issued
      },
      {
        allow: MANAGERS,
        parse: 'none',
        response: { 201: IssueKeyResponse },
        detail: { summary: 'Issue a tenant-general key', requestBody: issue.doc },
      },
    )
    .delete('/keys/:id', ({ principal, params }) => keys.revoke(principal.tenantId, params.id), {
      allow: MANAGERS,
      response: KeyRevokeResponse,
      detail: { summary: 'Revoke a key of any kind' },
    })
